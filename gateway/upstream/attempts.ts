// Forwards one request, from the choice of a target to the last byte of the response, with retries.
import { Fault, type ForwardOrder, type Refusal } from '../exchange/directive.ts';
import type { ExchangeFacts } from '../exchange/facts.ts';
import type { AnswerSink, Inbound } from '../plane/port.ts';
import type { NoticeOutcome } from '../policy/body-notice/editable.ts';
import { type HeldBodies, holdBody } from './bodies/held-body.ts';
import type { KeyedCall } from './bodies/keyed-call.ts';
import { type AwaitedBodies, measuredBody } from './bodies/measured-body.ts';
import type { CallFailure, Delivery } from './call.ts';
import { Slot } from './concurrency-limit.ts';
import type { StartDeadline } from './deadlines.ts';
import { toFault } from './fault-mapping.ts';
import { upstreamHeaders } from './request-headers.ts';
import { chooseForRetry, mayRetry } from './retry.ts';
import type { CallOutcome, Choice } from './targets/target-state.ts';
import { callerIdOf, type Targets } from './targets/targets.ts';
import type { Pools } from './upstreams.ts';

export interface ForwardEvents {
  /** The upstream has sent its head. The client gets it now, or later together with the body. */
  readonly onAnswered: () => void;
  /** Only for a response that could carry a notice. */
  readonly onNotice: (outcome: NoticeOutcome) => void;
  /** Nothing has been sent to the client, so the gateway can still respond. */
  readonly onRefused: (why: Fault | Refusal) => void;
  /** The response broke after its head. The client's connection has been reset. */
  readonly onCut: (why: Fault | Refusal) => void;
}

export interface ForwardPorts {
  readonly pools: Pick<Pools, 'route' | 'budget'>;
  readonly targets: Pick<Targets, 'choose'>;
  readonly heldBodies: HeldBodies;
  readonly awaitedBodies: AwaitedBodies;
  readonly startDeadline: StartDeadline;
}

export interface Forwarded {
  readonly inbound: Inbound;
  readonly order: ForwardOrder;
  readonly facts: ExchangeFacts;
  /** Set for a request with an idempotency key: its outcome is stored even if the client disconnects. */
  readonly claimed?: KeyedCall | undefined;
}

export function callUpstream(
  { inbound, order, facts, claimed }: Forwarded,
  { pools, targets, heldBodies, awaitedBodies, startDeadline }: ForwardPorts,
  sink: AnswerSink,
  events: ForwardEvents,
): (reason: Error) => void {
  const { view } = inbound;
  const caller = callerIdOf(facts.decision, inbound);
  const { upstream } = order;
  const { timeouts, retries, name: service } = upstream;
  const streams = inbound.hasBody && claimed === undefined;
  let arriving = streams;
  const body = streams
    ? measuredBody(inbound, order.maxBody, awaitedBodies, {
        onReady: start,
        onWhole() {
          arriving = false;
          slot?.bodyArrived();
        },
        onFailed: (cause) => fail(cause, 'cancelled'),
      })
    : undefined;
  const request = {
    path: order.target,
    method: view.method,
    fields: upstreamHeaders(inbound, order),
    received: view.headers,
    body: body?.stream ?? claimed?.body ?? null,
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.idle,
  };
  const budget = retries && pools.budget(upstream);
  budget?.onRequest();
  let tries = 0;
  let slot: Slot | undefined;
  let abort: ((reason: Error) => void) | undefined;
  let headSent = false;
  let ended = false;
  /** A target may have received a part of the request. */
  let sent = false;

  function finish(outcome: CallOutcome): void {
    ended = true;
    total.stop();
    inbound.onGone = undefined;
    body?.stop();
    delivery.discard?.();
    facts.completion.requestBytes = body?.received() ?? claimed?.body?.length ?? 0;
    claimed?.free();
    slot?.settle(outcome);
  }

  function fail(cause: unknown, outcome: CallOutcome): void {
    if (ended) return;
    finish(outcome);
    const reason = new Error('given up', { cause });
    body?.cut(reason);
    abort?.(reason);
    claimed?.onFailed(sent);
    reportFailure(isRefusal(cause) ? cause : toFault(cause, order));
  }

  function reportFailure(why: Fault | Refusal): void {
    if (!headSent) {
      events.onRefused(why);
      return;
    }
    sink.reset();
    events.onCut(why);
  }

  const client: Delivery = {
    head(status, headers) {
      sink.head(status, headers);
      headSent = true;
    },
    write: (chunk) => sink.write(chunk),
    end: () => sink.end(),
  };
  const { notice } = order;
  const edited =
    notice === undefined
      ? client
      : holdBody({
          ...{ notice, method: view.method, delivery: client, onOutcome: events.onNotice },
          ...{ heldBodies, inbound },
        });
  const captured = claimed?.capture(edited, {
    onStreaming: () => inbound.gone && queueMicrotask(onClientGone),
    onUndeliverable: (cause) => reportFailure(toFault(cause, order)),
  });
  const delivery = captured ?? edited;

  function send(chosen: Choice, fresh: boolean): void {
    facts.completion.target = chosen.target.origin;
    const route = pools.route(upstream, chosen.target);
    const call = (): void => {
      abort = route.connections.call({
        request,
        fresh,
        upstream,
        delivery,
        onSending() {
          sent = true;
        },
        onceDrained: (resume) => sink.onDrain(resume),
        onAnswered() {
          chosen.answered();
          events.onAnswered();
        },
        onEnd: () => finish('answered'),
        onFailure: (failure) => onFailure(chosen, failure),
      });
      route.dispatched();
    };
    const onBusy = (): void => fail(new Fault('upstream_busy', { service }), 'cancelled');
    slot = new Slot(route.limit, chosen, arriving, { onSlot: call, onBusy });
    slot.enter(upstream.connections);
  }

  /** Called when enough of the body has arrived, so a slow body occupies neither a target nor a slot. */
  function start(): void {
    try {
      send(targets.choose(upstream, caller), false);
    } catch (thrown) {
      fail(thrown, 'cancelled');
    }
  }

  function onFailure(failed: Choice, failure: CallFailure): void {
    const { code } = toFault(failure.cause, order);
    const isOurs = code === 'internal';
    const outcome = failure.stale || isOurs ? 'cancelled' : code;
    slot?.settle(outcome);
    const tried = { method: view.method, hasBody: inbound.hasBody, tries, retries, budget };
    const next =
      !isOurs && mayRetry(failure, tried)
        ? chooseForRetry(failed.target, failure, () => targets.choose(upstream, caller, failed.target))
        : undefined;
    if (next === undefined) {
      fail(failure.cause, outcome);
      return;
    }
    tries += 1;
    facts.completion.retries += 1;
    send(next, true);
  }

  // Does not count as a failure of the target, because long streams and slow clients also reach this timeout.
  const total = startDeadline(timeouts.total, () =>
    fail(new Fault('upstream_total_timeout', { service, timeoutMs: timeouts.total }), 'cancelled'),
  );
  const onClientGone = (): void => fail(new Error('the client disconnected'), 'cancelled');
  inbound.onGone = () => {
    // The target executes the request anyway, and its outcome must be stored for a retry of the client.
    if (!(sent && captured?.mayStillStore())) onClientGone();
  };
  if (body === undefined) start();
  return (reason) => fail(reason, 'cancelled');
}

function isRefusal(cause: unknown): cause is Refusal {
  return typeof cause === 'object' && cause !== null && 'reason' in cause && !(cause instanceof Error);
}
