// The facts of one exchange in three parts: its start, the decision, and its completion.
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

/** While `decide` waits, the findings so far. */
export interface Decision {
  readonly api: ApiPlan | undefined;
  readonly version: VersionRules | undefined;
  /** How the version was named. For a refused request: the carrier whose value was refused. */
  readonly carrier: Carrier | undefined;
  /** Whether the version depends on the caller's account, so that the response is private (CACHE-3). */
  readonly perAccount: boolean;
  /** Whether a brownout or an end applies to some callers only, so that no response may be shared. */
  readonly differsByCaller: boolean;
  /** The version as the client wrote it. Undefined if the API does not echo it. */
  readonly requested: string | undefined;
  readonly phase: Phase | undefined;
  /** The same resource in the successor. Empty before the deprecation. */
  readonly successor: Successor;
  /** Joined Link values of this resource in versions other than the successor. */
  readonly relatedLinks: string | undefined;
  readonly linked: LinkedVersions;
  readonly consumer: Consumer | undefined;
  /** The quotas of the counted limits. Undefined without limits, or if an earlier step refused the request. */
  readonly quotas: readonly Quota[] | undefined;
  /** Decisions by other rules that the path may mean and that also admitted the request. */
  readonly others: readonly Decision[];
  /** The decision by the other rules that refused the request. */
  readonly refusedBy: Decision | undefined;
  /** The reason for which `mode: enforce` would have refused the request. */
  readonly observed: RefusalReason | undefined;
}

export interface Completion {
  refusal: RefusalReason | undefined;
  /** Logged, never sent. */
  tokenFlaw: TokenFlaw | undefined;
  keyFlaw: KeyFlaw | undefined;
  /** Its cause is logged, never sent. */
  fault: Fault | undefined;
  /** The outcome of the body notice. Undefined if the response could not carry one. */
  bodyNotice: NoticeOutcome | undefined;
  /** The outcome of the idempotency key. Undefined if the request has no key that counts. */
  idempotency: IdempotencyOutcome | undefined;
  /** The number of addresses in the response that point to the service, outside its path. */
  addressesOutside: number;
  /** Milliseconds from sending the request upstream to the response headers. */
  upstreamMs: number | undefined;
  /** Origin of the last target that was called. Logged, never sent. */
  target: string | undefined;
  retries: number;
  /** Bytes of the request body that arrived. */
  requestBytes: number;
}

export interface ExchangeFacts {
  /** Replaced when a queued request starts. */
  start: RequestStart;
  decision: Decision;
  readonly completion: Completion;
}

export type RefusedFacts = Decision & Pick<RequestStart, 'plan'>;

/** A decision that the pipeline still writes. */
export type Deciding = { -readonly [Name in keyof Decision]: Decision[Name] };

export const NO_LINKS = {
  linked: NOTHING_LINKED,
  successor: NO_SUCCESSOR,
  relatedLinks: undefined,
} as const satisfies Partial<Decision>;

/** Clears what an earlier judgement of the request found about its version. */
export const NO_VERSION = {
  version: undefined,
  phase: undefined,
  ...NO_LINKS,
  differsByCaller: false,
  observed: undefined,
} as const satisfies Partial<Decision>;

const NO_OTHERS: Decision['others'] = [];

/** Lists every member, so that all decisions have one hidden class. */
export function undecided(): Deciding {
  // No spread here: V8 would copy it property by property for every request.
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

type DescribedRules = Pick<Decision, 'api' | 'version' | 'carrier' | 'phase' | 'consumer'> &
  Pick<Decision, 'linked' | 'successor' | 'relatedLinks'> & {
    readonly mayPass: boolean;
    readonly brownoutNeedsCaller: boolean;
  };

export function recordRules(rules: DescribedRules, decision: Deciding): Decision {
  decision.api = rules.api;
  decision.version = rules.version;
  decision.carrier = rules.carrier;
  decision.phase = rules.phase;
  decision.linked = rules.linked;
  decision.successor = rules.successor;
  decision.relatedLinks = rules.relatedLinks;
  decision.consumer = rules.consumer;
  decision.differsByCaller = rules.mayPass || rules.brownoutNeedsCaller;
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
