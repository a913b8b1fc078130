// Records requests in typed arrays when their responses end.
import type { ExchangeOutcome } from '../../exchange/exchange.ts';
import type { Completion, ExchangeFacts } from '../../exchange/facts.ts';
import type { UpstreamPlan, VersionRules } from '../../plan/plan.ts';
import type { Quota } from '../../policy/rate-limit/limit.ts';
import { countedUnder } from '../ledger/watched.ts';
import { isSampled } from '../traces/tracing.ts';
import type { RecordRequest } from './ended-requests.ts';
import { countOutcomes } from './outcome-counters.ts';
import {
  ANSWERED,
  ANSWERED_5XX,
  AUTH_FAILURES,
  CARRIERS,
  CLIENT_DISCONNECTED,
  codeIndexOf,
  type DECISIONS,
  FAULT_AUTH_FAILURES,
  faultIndexOf,
  methodIndexOf,
  NONE,
  OTHER,
  REFUSALS,
  RESOLUTIONS,
  RETIREMENTS,
  STAGES,
} from './request-labels.ts';
import {
  type ApiSlot,
  countDecision,
  countIn,
  countRequest,
  createSlots,
  increment,
  type Slots,
  upstreamSlot,
  type VersionSlot,
} from './slots.ts';

export interface RequestMetrics {
  readonly record: RecordRequest;
  readonly slots: Pick<Slots, 'apis' | 'versions'>;
  readonly consumersDropped: () => number;
}

export function createRequestMetrics(): RequestMetrics {
  const slots = createSlots();
  let consumersDropped = 0;

  return {
    record: (facts, outcome, at, durationMs) => {
      const { decision, completion } = facts;
      const slot = slots.slot(decision.api, decision.version);
      const stage = decision.phase?.stage ?? NONE;
      countRequest(slot, STAGES.indexOf(stage), methodIndexOf(outcome.method), codeIndexOf(outcome.status));
      const { trace } = facts.start;
      if (trace !== undefined && isSampled(trace))
        slot.latency.observe(durationMs, { traceId: trace.traceId, at });
      else slot.latency.observe(durationMs);
      if (decision.version !== undefined) {
        slot.lastRequest = at;
        const carrier = decision.carrier ?? NONE;
        countResolution(slot.ofApi, carrier, carrier === 'default' ? 'default' : 'matched');
        const { upstream } = decision.version;
        if (upstream !== undefined) countUpstream(slot, upstream, completion, outcome);
      }
      if (stage === 'deprecated') {
        const isCall = countedUnder(facts) !== undefined;
        if (isCall && !slot.consumers.count(decision.consumer, at)) consumersDropped += 1;
        countOperation(slot, decision.version);
      }
      countOutcomes(slot.outcomes, facts);
      slot.addressesOutside += completion.addressesOutside;
      slot.requestBytes += completion.requestBytes;
      slot.responseBytes += outcome.bytes;
      countQuotas(slot, facts);
      countRefusal(slot, facts);
    },
    slots,
    consumersDropped: () => consumersDropped,
  };
}

function countUpstream(
  slot: VersionSlot,
  { name }: UpstreamPlan,
  completion: Completion,
  outcome: ExchangeOutcome,
): void {
  const { upstreamMs } = completion;
  const index = upstreamOutcome(completion, outcome);
  if (index === undefined && upstreamMs === undefined) return;
  const upstream = upstreamSlot(slot, name);
  if (upstreamMs !== undefined) upstream.latency.observe(upstreamMs);
  if (index !== undefined) increment(upstream.outcomes, index);
  upstream.retries += completion.retries;
}

/** Undefined if the request was not forwarded, or was refused while its body arrived. */
function upstreamOutcome(
  { refusal, fault, upstreamMs, idempotency }: Completion,
  { status, aborted }: ExchangeOutcome,
): number | undefined {
  if (refusal !== undefined) return undefined;
  if (fault !== undefined) return faultIndexOf(fault.code);
  if (aborted) return idempotency === 'replayed' ? undefined : CLIENT_DISCONNECTED;
  if (upstreamMs === undefined) return undefined;
  return status >= 500 ? ANSWERED_5XX : ANSWERED;
}

/** Versions without operations are not counted: the counter of the version has the same value. */
function countOperation(slot: VersionSlot, version: VersionRules | undefined): void {
  if (version?.operation !== undefined) countIn(slot.operations, version.operation);
  else if (version?.operations !== undefined) countIn(slot.operations, OTHER);
}

function countResolution(
  api: ApiSlot,
  carrier: (typeof CARRIERS)[number],
  outcome: (typeof RESOLUTIONS)[number],
): void {
  increment(api.resolutions, CARRIERS.indexOf(carrier) * RESOLUTIONS.length + RESOLUTIONS.indexOf(outcome));
}

function countQuotas(slot: VersionSlot, { decision, completion }: ExchangeFacts): void {
  const { quotas } = decision;
  if (quotas === undefined) return;
  for (const quota of quotas) countDecision(slot, quota.limit.name, decisionOf(quota, completion.refusal));
}

/**
 * A refused request counts as `limited`, with or without the store. A request that passed in shadow or in observe mode
 * counts as `shadow_limited`. Other decisions without the store count as `degraded`.
 */
function decisionOf(quota: Quota, refusal: Completion['refusal']): (typeof DECISIONS)[number] {
  switch (quota.kind) {
    case 'counted':
    case 'degraded':
      if (quota.allowed) return quota.kind === 'counted' ? 'allowed' : 'degraded';
      return quota.rule.shadow || refusal !== 'rate_limited' ? 'shadow_limited' : 'limited';
    case 'unavailable':
      return 'degraded';
    default:
      return quota satisfies never;
  }
}

function countRefusal(slot: VersionSlot, { decision, completion }: ExchangeFacts): void {
  const { refusal, fault } = completion;
  const failure = fault === undefined ? undefined : FAULT_AUTH_FAILURES[fault.code];
  if (failure !== undefined) increment(slot.ofApi.authFailures, AUTH_FAILURES.indexOf(failure));
  const meaning = refusal && REFUSALS[refusal];
  if (meaning === undefined) return;
  switch (meaning.kind) {
    case 'resolution':
      countResolution(slot.ofApi, decision.carrier ?? NONE, meaning.outcome);
      return;
    case 'retired':
      increment(slot.retired, RETIREMENTS.indexOf(meaning.action));
      return;
    case 'auth':
      increment(slot.ofApi.authFailures, AUTH_FAILURES.indexOf(meaning.failure));
      return;
    case 'guard':
      countDecision(slot, 'guard', 'limited');
      return;
    default:
      meaning satisfies never;
  }
}
