// Every metric of the gateway, one row each: name, labels, and where its samples come from.
import { apiStages, rememberedApis, versionStates } from '../exchange/version-states.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Override } from '../policy/lifecycle/override.ts';
import {
  knownAuthFailures,
  knownCallers,
  knownDecisions,
  knownFailures,
  knownOperations,
  knownResolutions,
  knownRetirements,
  knownUpstreamOutcomes,
  knownUpstreams,
  knownVersions,
  withZeros,
} from './known-series.ts';
import { type LedgerSamples, ledgerRows } from './ledger/ledger.ts';
import { type AnnouncementCounts, announcementRows } from './reports/announcement-counts.ts';
import { type BoundsSamples, boundRows } from './reports/bounds-report.ts';
import { type FreezeCounts, freezeRows } from './reports/freeze-counts.ts';
import { certificateRows, type ProcessState, reloadRows } from './reports/process-state.ts';
import { type RetirementGauge, retirementRows } from './reports/retirement-gauge.ts';
import { type TargetMetrics, targetRows } from './reports/target-metrics.ts';
import { CAPPED, DROPPED } from './requests/consumer-sums.ts';
import { outcomeRows } from './requests/outcome-counters.ts';
import type { RequestMetrics } from './requests/request-metrics.ts';
import {
  authFailureSamples,
  decisionSamples,
  deprecatedOperationSamples,
  deprecatedSamples,
  lastRequestSamples,
  latencySamples,
  outsideSamples,
  requestBytesSamples,
  requestSamples,
  resolutionSamples,
  responseBytesSamples,
  retiredSamples,
  retrySamples,
  upstreamOutcomeSamples,
  upstreamSamples,
} from './requests/request-samples.ts';
import { counter, gauge, histogram, type MetricRow, single, VERSION } from './series.ts';
import { limitModeSamples, versionRows } from './version-rows.ts';

export interface MetricSources {
  readonly requests: RequestMetrics;
  readonly state: ProcessState;
  readonly bounds: BoundsSamples;
  readonly targets: TargetMetrics;
  readonly freezes: Pick<FreezeCounts, 'samples'>;
  readonly retirements: Pick<RetirementGauge, 'samples'>;
  readonly announcements: Pick<AnnouncementCounts, 'samples'>;
  readonly ledger: LedgerSamples | undefined;
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  readonly overrides: () => readonly Override[];
  readonly wallClock: () => EpochMs;
  readonly logLinesDropped: () => number;
}

export function metricRows({
  requests,
  state,
  bounds,
  ledger,
  targets,
  freezes,
  retirements,
  announcements,
  plan,
  now,
  overrides,
  wallClock,
  logLinesDropped,
}: MetricSources): MetricRow[] {
  const moment = () => ({ now: now(), overrides: overrides() });
  const states = () => versionStates(plan(), moment());
  return [
    counter('sundial_requests_total', 'Requests answered.', [...VERSION, 'stage', 'method', 'code'], () =>
      withZeros(requestSamples(requests), knownFailures(states())),
    ),
    histogram(
      'sundial_request_duration_seconds',
      'Time from the first line of a request to the end of its response.',
      VERSION,
      () => latencySamples(requests),
    ),
    histogram(
      'sundial_upstream_duration_seconds',
      'Time from sending a request to an upstream to its response headers.',
      [...VERSION, 'upstream'],
      () => upstreamSamples(requests),
    ),
    counter(
      'sundial_upstream_requests_total',
      'Requests forwarded to an upstream, by outcome.',
      [...VERSION, 'upstream', 'outcome'],
      () => withZeros(upstreamOutcomeSamples(requests), knownUpstreamOutcomes(plan())),
    ),
    counter(
      'sundial_upstream_retries_total',
      'Retries of calls to an upstream.',
      [...VERSION, 'upstream'],
      () => withZeros(retrySamples(requests), knownUpstreams(plan())),
    ),
    counter('sundial_request_bytes_total', 'Bytes of request bodies that were forwarded.', VERSION, () =>
      withZeros(requestBytesSamples(requests), knownVersions(states())),
    ),
    counter('sundial_response_bytes_total', 'Bytes of response bodies.', VERSION, () =>
      withZeros(responseBytesSamples(requests), knownVersions(states())),
    ),
    counter(CAPPED, 'Requests to a deprecated version, by consumer.', [...VERSION, 'consumer'], () =>
      withZeros(deprecatedSamples(requests, wallClock()), knownCallers(states())),
    ),
    counter(
      'sundial_deprecated_operation_requests_total',
      'Requests to deprecated operations. "other": operations of their version without own rules.',
      [...VERSION, 'operation'],
      () => withZeros(deprecatedOperationSamples(requests), knownOperations(plan(), now())),
    ),
    ...outcomeRows(requests.slots.versions),
    counter(
      'sundial_addresses_outside_total',
      'Addresses of the service in its responses that lie outside its path and keep their path.',
      VERSION,
      () => outsideSamples(requests),
    ),
    counter(
      'sundial_retired_requests_total',
      'Requests to a version after its sunset or in a brownout, or of a new consumer to a frozen one.',
      [...VERSION, 'action'],
      () => withZeros(retiredSamples(requests), knownRetirements(states())),
    ),
    ...versionRows(states, () => apiStages(plan(), moment())),
    ...retirementRows(retirements, plan, states),
    ...announcementRows(announcements),
    gauge(
      'sundial_version_last_request_timestamp_seconds',
      'Time of the last request to a version.',
      VERSION,
      () => lastRequestSamples(requests),
    ),
    gauge('sundial_websocket_connections', 'Open WebSockets.', VERSION, state.websockets, 'sum'),
    counter(
      'sundial_version_resolutions_total',
      'Requests by the carrier that named the version, and the outcome of the resolution.',
      ['api', 'carrier', 'outcome'],
      () => withZeros(resolutionSamples(requests), knownResolutions(rememberedApis(plan(), moment()))),
    ),
    counter(
      'sundial_ratelimit_decisions_total',
      'Requests that a rate limit admitted or refused.',
      [...VERSION, 'policy', 'decision'],
      () => withZeros(decisionSamples(requests), knownDecisions(plan(), now())),
    ),
    gauge(
      'sundial_ratelimit_mode',
      'How a limit counts now: in the shared store, or without it. Always 1.',
      [...VERSION, 'policy', 'mode'],
      () => limitModeSamples(states(), state.areLimitsShared(), now()),
      'primary',
    ),
    counter(
      'sundial_auth_failures_total',
      'Requests that were not authenticated or not authorised.',
      ['api', 'reason'],
      () => withZeros(authFailureSamples(requests), knownAuthFailures(rememberedApis(plan(), moment()))),
    ),
    ...freezeRows(freezes, plan),
    ...targetRows(targets),
    ...boundRows(bounds),
    ...(ledger === undefined ? [] : ledgerRows(ledger)),
    gauge('sundial_store_up', 'Whether a store answers and takes writes.', ['store'], state.stores, 'min'),
    gauge('sundial_workers', 'Processes that answer requests.', [], () => single(state.workers()), 'primary'),
    ...reloadRows(state, () => plan().revision),
    ...certificateRows(state),
    counter(
      'sundial_admin_writes_total',
      'Writes through the admin listener, including refused ones.',
      ['action', 'outcome'],
      state.adminWrites,
    ),
    gauge(
      'sundial_lifecycle_clock_offset_seconds',
      'Seconds by which the lifecycle clock is ahead of the real time.',
      [],
      () => single(Math.round((now() - wallClock()) / 1000)),
      'primary',
    ),
    counter(
      DROPPED,
      'Observations counted under "other" because the limit of series was reached.',
      ['metric'],
      () => [[[CAPPED], requests.consumersDropped()]],
    ),
    counter(
      'sundial_access_log_dropped_total',
      'Log lines lost because their destination was slow or broken.',
      [],
      () => single(logLinesDropped()),
    ),
  ];
}
