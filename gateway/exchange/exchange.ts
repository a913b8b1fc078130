// The exchange: one request and its response, independent of the transport.
import type { Fields, MaybePromise } from '../policy/contract.ts';
import type { Taken } from '../policy/rate-limit/limit.ts';
import { retryAfterSeconds } from '../policy/rate-limit/quota-headers.ts';
import { HeaderLines, mergeVary } from './answer-headers.ts';
import { decorate } from './answers/decorate.ts';
import {
  type ErrorDescription,
  PROBLEM_TYPE,
  problemBody,
  reasonPhrase,
  wantsProblem,
} from './answers/error-body.ts';
import { describeFault } from './answers/fault.ts';
import { clampFreshness, longestReuse } from './answers/freshness.ts';
import { describeRefusal } from './answers/refusal.ts';
import { type Directive, Fault, type Refusal } from './directive.ts';
import { type ExchangeFacts, factsOf, undecided } from './facts.ts';
import { judge } from './pipeline.ts';
import type { ExchangePorts, Judging } from './ports.ts';
import type { Publication } from './publish/publication.ts';
import type { RequestGlimpse, RequestView } from './request-view.ts';
import { refuse } from './steps/admission.ts';
import { type ExpiryCause, expiryCauseOf, type TunnelService } from './tunnel-service.ts';

/** A complete response made by the gateway, with lower-case header names. The transport omits the body for HEAD. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: HeaderLines;
  readonly body: string;
}

export interface ExchangeOutcome {
  readonly method: string;
  /** Undefined if the request could not be read. */
  readonly host: string | undefined;
  /** Without query. It may contain hostile bytes. */
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
  readonly clientAddress: string;
  /** The address for IPv4; the /64 network for IPv6, because one subscriber owns all of it. */
  readonly clientNetwork: string;
  readonly scheme: 'https' | 'http';
  readonly protocol: string;
  /** The client disconnected, or the response was cut short. */
  readonly aborted: boolean;
  readonly userAgent: string | undefined;
}

export interface Observer {
  /** Called once for every request, refused and aborted ones included. */
  readonly onAnswer: (facts: ExchangeFacts, outcome: ExchangeOutcome) => void;
}

export interface Exchange {
  /** Captures the plan and reads the clock. It runs first for every request. */
  readonly begin: (requestId: string, headers?: Fields) => ExchangeFacts;
  /** Captures plan and clock again for a queued request. An earlier stream of its connection may last for hours. */
  readonly resume: (facts: ExchangeFacts) => void;
  /** Returns a promise only if a port had to be awaited. Rejects if it cannot decide. */
  readonly decide: (view: RequestView, facts: ExchangeFacts) => MaybePromise<Directive>;
  /** The response to a refusal by the listener or by `decide`. */
  readonly refuse: (refusal: Refusal, facts: ExchangeFacts, glimpse: RequestGlimpse) => ExchangeAnswer;
  /** Anything but a `Fault` is answered with 500. */
  readonly fail: (thrown: unknown, facts: ExchangeFacts, glimpse: RequestGlimpse) => ExchangeAnswer;
  readonly publish: (publication: Publication, facts: ExchangeFacts, view: RequestView) => ExchangeAnswer;
  /** Edits in place. */
  readonly decorate: (status: number, headers: HeaderLines, facts: ExchangeFacts, view: RequestView) => void;
  /** Why an open tunnel must close now, by the current plan, overrides and clocks. */
  readonly expiryCauseOf: (held: TunnelService) => ExpiryCause | undefined;
}

export function createExchange(ports: ExchangePorts): Exchange {
  const hsts = ports.hstsSeconds === undefined ? undefined : `max-age=${ports.hstsSeconds}`;

  /** Uses only the description, so no text of a cause can reach the client. */
  function answer(
    description: ErrorDescription,
    facts: ExchangeFacts,
    glimpse: RequestGlimpse,
  ): ExchangeAnswer {
    const { status, message, members, headers, problem } = description;
    const own = { error: reasonPhrase(status), message, ...members };
    const isProblem = wantsProblem(glimpse);
    const body = JSON.stringify(isProblem ? problemBody(status, own, facts.start.requestId, problem) : own);
    const all = new HeaderLines({
      'content-type': isProblem ? PROBLEM_TYPE : 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    });
    // Both body forms are representations of one URL (CACHE-2).
    mergeVary(all, 'Accept');
    decorate(all, facts, glimpse, hsts);
    return { status, headers: all, body };
  }

  return {
    begin: (requestId, headers) =>
      factsOf({
        plan: ports.plan(),
        now: ports.now(),
        overrides: ports.overrides(),
        startedAt: ports.monotonic(),
        requestId,
        trace: headers && ports.beginTrace?.(headers),
      }),
    resume: (facts) => {
      facts.start = {
        ...facts.start,
        plan: ports.plan(),
        now: ports.now(),
        overrides: ports.overrides(),
      };
    },
    decide: (view, facts) => {
      const { start, completion } = facts;
      const decision = undecided();
      // Set before the first wait, because the client may disconnect during it.
      facts.decision = decision;
      const admitted = (taken?: Taken): MaybePromise<Directive> =>
        taken === undefined || taken.allowed
          ? settle(judge({ view, start, ports }, decision, completion))
          : refuse({ reason: 'guard_limited', retryAfterSeconds: retryAfterSeconds(taken) });
      // The guard runs before anything costly: a flood from one address costs one map lookup per request. With several
      // workers, which count together, only the first request of an address waits.
      const { guard } = start.plan;
      const taking = guard && ports.guard(view.clientAddress, guard);
      return taking instanceof Promise ? taking.then(admitted) : admitted(taking);
    },
    refuse: (refusal, facts, glimpse) => {
      const { start, decision, completion } = facts;
      completion.refusal = refusal.reason;
      if (refusal.reason === 'token_invalid') completion.tokenFlaw = refusal.flaw;
      if (refusal.reason === 'key_invalid') completion.keyFlaw = refusal.flaw;
      const refused = { ...(decision.refusedBy ?? decision), plan: start.plan };
      const given = answer(describeRefusal(refusal, refused, glimpse), facts, glimpse);
      if (refusal.reason === 'version_retired' || refusal.reason === 'version_moved')
        clampFreshness(given.headers, longestReuse(facts, ports.now()), ports.wallClock());
      return given;
    },
    fail: (thrown, facts, glimpse) => {
      const fault = thrown instanceof Fault ? thrown : new Fault('internal', { cause: thrown });
      facts.completion.fault = fault;
      return answer(describeFault(fault, facts.start.requestId, ports.wallClock()), facts, glimpse);
    },
    publish: ({ status, headers, body }, facts, view) => {
      const all = new HeaderLines(headers);
      decorate(all, facts, view, hsts);
      return { status, headers: all, body };
    },
    decorate: (status, headers, facts, view) => {
      const { method, headers: requestHeaders } = view;
      const answered = { status, method, headers: requestHeaders };
      clampFreshness(headers, longestReuse(facts, ports.now()), ports.wallClock(), answered);
      decorate(headers, facts, view, hsts);
    },
    expiryCauseOf: (held) =>
      expiryCauseOf(
        held,
        ports.plan(),
        { now: ports.now(), overrides: ports.overrides() },
        ports.wallClock(),
      ),
  };
}

/** Synchronous if nothing is awaited: an `async` function would allocate a promise per request. Errors reject. */
export function settle<Result>(judging: Judging<Result>): MaybePromise<Result> {
  try {
    return resume(judging, judging.next());
  } catch (error) {
    return Promise.reject(error);
  }
}

function resume<Result>(
  judging: Judging<Result>,
  step: IteratorResult<Promise<unknown>, Result>,
): MaybePromise<Result> {
  if (step.done === true) return step.value;
  return step.value
    .then(
      (value) => judging.next(value),
      (error: unknown) => judging.throw(error),
    )
    .then((next) => resume(judging, next));
}
