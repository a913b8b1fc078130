// What became known of one exchange. Written by the pipeline and the forwarder, read only by decorators and observers.
// One object per request, from its first line to its access-log line.
import type { ApiPlan, GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { Consumer, KeyFlaw, TokenFlaw } from '../policy/authentication/access.ts';
import type { NoticeOutcome } from '../policy/body-notice/editable.ts';
import type { EpochMs, MonotonicMs } from '../policy/contract.ts';
import type { IdempotencyOutcome } from '../policy/idempotency/rules.ts';
import type { Override } from '../policy/lifecycle/override.ts';
import { NO_SUCCESSOR, type Successor } from '../policy/lifecycle/retirement.ts';
import type { Phase } from '../policy/lifecycle/schedule.ts';
import type { Quota } from '../policy/rate-limit/limit.ts';
import type { Carrier } from '../policy/versioning/resolution.ts';
import type { FaultCode, RefusalReason } from './directive.ts';
import { type LinkedVersions, NOTHING_LINKED } from './linked-versions.ts';
import type { Trace } from './trace.ts';

export interface ExchangeFacts {
  readonly plan: GatewayPlan;
  /** Lifecycle clock at the request's first line. */
  readonly now: EpochMs;
  /** Known at the request's first line, like the plan. */
  readonly overrides: readonly Override[];
  /** At the request's first line, for durations. */
  readonly startedAt: MonotonicMs;
  readonly requestId: string;
  readonly trace: Trace | undefined;
  api: ApiPlan | undefined;
  version: VersionRules | undefined;
  /** How the version was named; of a refused request, the carrier whose value was refused. */
  carrier: Carrier | undefined;
  /** Whether the account of the caller had a say in the version, so that the answer is for it alone (CACHE-3). */
  perAccount: boolean;
  /** Whether some callers do not meet a brownout or an end that others meet: what either get is not for the rest. */
  sparesSome: boolean;
  /** What the client wrote for a version, as it wrote it; undefined where nothing is echoed. */
  requested: string | undefined;
  phase: Phase | undefined;
  /** Where this resource is in the successor; nothing in it before the deprecation. */
  successor: Successor;
  /** Link values of this resource in other versions than the successor, joined. */
  relatedLinks: string | undefined;
  /** Which versions those are, and until when. */
  linked: LinkedVersions;
  consumer: Consumer | undefined;
  /** Of the limits that were asked; undefined where there is none, or another refusal came first. */
  quotas: readonly Quota[] | undefined;
  refusal: RefusalReason | undefined;
  /** What is known of other rules that the path may mean; they had to admit the request as well. */
  others: readonly ExchangeFacts[];
  /** That of `others` by which the request was refused. */
  refusedBy: ExchangeFacts | undefined;
  /** What is wrong with a token that was refused; for the log alone. */
  tokenFlaw: TokenFlaw | undefined;
  /** The same of an API key. */
  keyFlaw: KeyFlaw | undefined;
  /** What enforcing would have refused the request for: the first reason found where the API is only observed. */
  observed: RefusalReason | undefined;
  fault: FaultCode | undefined;
  /** What became of the notice in the body; undefined where the answer was none that could carry one. */
  bodyNotice: NoticeOutcome | undefined;
  /** What became of the key of the request; undefined where it had none that counts. */
  idempotency: IdempotencyOutcome | undefined;
  /** Addresses in the answer that lead to the service, outside its path. */
  addressesOutside: number;
  /** Milliseconds from sending upstream to its headers. */
  upstreamMs: number | undefined;
}

/** What is known of a request at its first line. */
export type FirstFacts = Pick<
  ExchangeFacts,
  'plan' | 'now' | 'overrides' | 'startedAt' | 'requestId' | 'trace'
>;

const NO_OTHERS: ExchangeFacts['others'] = [];

/** Before anything is decided. Every member is there from the start, so that all facts are of one shape. */
export function factsOf({ plan, now, overrides, startedAt, requestId, trace }: FirstFacts): ExchangeFacts {
  return {
    plan,
    now,
    overrides,
    startedAt,
    requestId,
    trace,
    api: undefined,
    version: undefined,
    carrier: undefined,
    perAccount: false,
    sparesSome: false,
    requested: undefined,
    phase: undefined,
    successor: NO_SUCCESSOR,
    relatedLinks: undefined,
    linked: NOTHING_LINKED,
    consumer: undefined,
    quotas: undefined,
    refusal: undefined,
    others: NO_OTHERS,
    refusedBy: undefined,
    tokenFlaw: undefined,
    keyFlaw: undefined,
    observed: undefined,
    fault: undefined,
    bodyNotice: undefined,
    idempotency: undefined,
    addressesOutside: 0,
    upstreamMs: undefined,
  };
}

/** The same object, for another version to be judged: the answer tells nothing of the first, and what was counted stays. */
export function withoutVersion(facts: ExchangeFacts): ExchangeFacts {
  facts.version = undefined;
  facts.phase = undefined;
  facts.successor = NO_SUCCESSOR;
  facts.relatedLinks = undefined;
  facts.linked = NOTHING_LINKED;
  facts.sparesSome = false;
  facts.observed = undefined;
  return facts;
}
