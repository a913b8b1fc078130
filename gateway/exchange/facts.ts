// What is known of one exchange, in three parts: at its first line, by the decision, and at its end.
import type { ApiPlan, GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { Consumer, KeyFlaw, TokenFlaw } from '../policy/authentication/access.ts';
import type { NoticeOutcome } from '../policy/body-notice/editable.ts';
import type { EpochMs, MonotonicMs } from '../policy/contract.ts';
import type { IdempotencyOutcome } from '../policy/idempotency/rules.ts';
import type { Override } from '../policy/lifecycle/override.ts';
import { NO_SUCCESSOR, type Successor } from '../policy/lifecycle/retirement.ts';
import type { Phase } from '../policy/lifecycle/schedule.ts';
import type { Quota } from '../policy/rate-limit/limit.ts';
import type { Carrier } from '../policy/versioning/carriers.ts';
import type { Fault, RefusalReason } from './directive.ts';
import { type LinkedVersions, NOTHING_LINKED } from './linked-versions.ts';
import type { Trace } from './request-view.ts';

export interface RequestStart {
  readonly plan: GatewayPlan;
  readonly now: EpochMs;
  readonly overrides: readonly Override[];
  readonly startedAt: MonotonicMs;
  readonly requestId: string;
  readonly trace: Trace | undefined;
}

/** What `decide` found; as much as it knows so far while it waits. */
export interface Decision {
  readonly api: ApiPlan | undefined;
  readonly version: VersionRules | undefined;
  /** How the version was named; of a refused request, the carrier whose value was refused. */
  readonly carrier: Carrier | undefined;
  /** Whether the account of the caller had a say in the version, so that the answer is for it alone (CACHE-3). */
  readonly perAccount: boolean;
  /** Whether some callers do not meet a brownout or an end that others meet: what either get is not for the rest. */
  readonly differsByCaller: boolean;
  /** What the client wrote for a version, as it wrote it; undefined where nothing is echoed. */
  readonly requested: string | undefined;
  readonly phase: Phase | undefined;
  /** Where this resource is in the successor; nothing in it before the deprecation. */
  readonly successor: Successor;
  /** Link values of this resource in other versions than the successor, joined. */
  readonly relatedLinks: string | undefined;
  readonly linked: LinkedVersions;
  readonly consumer: Consumer | undefined;
  /** Of the limits that were asked; undefined where there is none, or another refusal came first. */
  readonly quotas: readonly Quota[] | undefined;
  /** The same for other rules that the path may mean; they had to admit the request as well. */
  readonly others: readonly Decision[];
  /** The same for the other rules by which the request was refused. */
  readonly refusedBy: Decision | undefined;
  /** What enforcing would have refused the request for: the first reason found where the API is only observed. */
  readonly observed: RefusalReason | undefined;
}

/** What happened afterwards; written by the exchange and by what forwards. */
export interface Completion {
  refusal: RefusalReason | undefined;
  /** What is wrong with a token that was refused; for the log alone. */
  tokenFlaw: TokenFlaw | undefined;
  keyFlaw: KeyFlaw | undefined;
  /** Its cause is for the log alone. */
  fault: Fault | undefined;
  /** What became of the notice in the body; undefined where the answer was none that could carry one. */
  bodyNotice: NoticeOutcome | undefined;
  /** What became of the key of the request; undefined where it had none that counts. */
  idempotency: IdempotencyOutcome | undefined;
  /** Addresses in the answer that lead to the service, outside its path. */
  addressesOutside: number;
  /** Milliseconds from sending upstream to its headers. */
  upstreamMs: number | undefined;
  /** Origin of the target that was called last; for the log alone. */
  target: string | undefined;
  /** How often the call was made again. */
  retries: number;
  /** Of its body, as far as it arrived. */
  requestBytes: number;
}

export interface ExchangeFacts {
  /** Replaced once a request that waited for its turn has it. */
  start: RequestStart;
  decision: Decision;
  readonly completion: Completion;
}

/** What the answer for a refusal is made of. */
export type RefusedFacts = Decision & Pick<RequestStart, 'plan'>;

/** A decision on its way: only the pipeline has one. */
export type Deciding = { -readonly [Name in keyof Decision]: Decision[Name] };

/** Of a version that is current and follows on nothing. */
export const NO_LINKS = {
  linked: NOTHING_LINKED,
  successor: NO_SUCCESSOR,
  relatedLinks: undefined,
} as const satisfies Partial<Decision>;

/** What a new version is judged with: nothing of another one that was judged before. */
export const NO_VERSION = {
  version: undefined,
  phase: undefined,
  ...NO_LINKS,
  differsByCaller: false,
  observed: undefined,
} as const satisfies Partial<Decision>;

const NO_OTHERS: Decision['others'] = [];

/** Before anything is decided. Every member is there from the start, so that all decisions are of one shape. */
export function undecided(): Deciding {
  // Not spread: the runtime would copy a spread property by property, for every request.
  return {
    api: undefined,
    version: undefined,
    phase: undefined,
    linked: NOTHING_LINKED,
    successor: NO_SUCCESSOR,
    relatedLinks: undefined,
    differsByCaller: false,
    observed: undefined,
    carrier: undefined,
    perAccount: false,
    requested: undefined,
    consumer: undefined,
    quotas: undefined,
    others: NO_OTHERS,
    refusedBy: undefined,
  };
}

/** The rules that judge a request, as its answer describes them. */
type TellingRules = Pick<Decision, 'api' | 'version' | 'carrier' | 'phase' | 'consumer'> &
  Pick<Decision, 'linked' | 'successor' | 'relatedLinks'> & {
    readonly mayPass: boolean;
    readonly asksCaller: boolean;
  };

/** Writes the facts of these rules into `decision`. */
export function judgedBy(rules: TellingRules, decision: Deciding): Decision {
  decision.api = rules.api;
  decision.version = rules.version;
  decision.carrier = rules.carrier;
  decision.phase = rules.phase;
  decision.linked = rules.linked;
  decision.successor = rules.successor;
  decision.relatedLinks = rules.relatedLinks;
  decision.consumer = rules.consumer;
  decision.differsByCaller = rules.mayPass || rules.asksCaller;
  return decision;
}

const UNDECIDED: Decision = undecided();

export function factsOf(start: RequestStart): ExchangeFacts {
  return {
    start,
    decision: UNDECIDED,
    completion: {
      refusal: undefined,
      tokenFlaw: undefined,
      keyFlaw: undefined,
      fault: undefined,
      bodyNotice: undefined,
      idempotency: undefined,
      addressesOutside: 0,
      upstreamMs: undefined,
      target: undefined,
      retries: 0,
      requestBytes: 0,
    },
  };
}
