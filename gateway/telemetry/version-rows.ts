// The metrics of the plan: the stage of each API and version, and its dates with overrides applied.
import { type apiStages, limitsInForce, type VersionState } from '../exchange/version-states.ts';
import type { EpochMs } from '../policy/contract.ts';
import { gauge, type MetricRow, type Sample, VERSION } from './series.ts';

export function versionRows(
  states: () => Iterable<VersionState>,
  apis: () => ReturnType<typeof apiStages>,
): MetricRow[] {
  return [
    gauge(
      'sundial_api_info',
      'The stage of an API: that of its version with the longest life left. Always 1.',
      ['api', 'stage'],
      () => apiSamples(apis()),
      'primary',
    ),
    gauge(
      'sundial_version_info',
      'The stage of a version and its successor. Always 1.',
      [...VERSION, 'stage', 'successor'],
      () => versionSamples(states()),
      'primary',
    ),
    gauge(
      'sundial_version_deprecation_timestamp_seconds',
      'Time at which a version becomes deprecated.',
      VERSION,
      () => dateSamples(states(), 'deprecated'),
      'primary',
    ),
    gauge(
      'sundial_version_sunset_timestamp_seconds',
      'Time at which a version ends, with announced extensions, pauses and holds.',
      VERSION,
      () => dateSamples(states(), 'sunset'),
      'primary',
    ),
    gauge(
      'sundial_version_paused',
      'Whether a pause suspends brownouts and retirement: 1 or 0.',
      VERSION,
      () => valuedSamples(states(), ({ paused }) => paused),
      'primary',
    ),
  ];
}

function* apiSamples(apis: ReturnType<typeof apiStages>): Iterable<Sample> {
  for (const [api, stage] of apis) yield [[api, stage], 1];
}

function* versionSamples(versions: Iterable<VersionState>): Iterable<Sample> {
  for (const { rules, stage } of versions)
    yield [[rules.api, rules.label, stage, rules.schedule.successor ?? ''], 1];
}

/** api, version. Undefined values are omitted. */
export function* valuedSamples(
  versions: Iterable<VersionState>,
  valueIn: (version: VersionState) => number | boolean | undefined,
): Iterable<Sample> {
  for (const version of versions) {
    const value = valueIn(version);
    if (value !== undefined) yield [[version.rules.api, version.rules.label], Number(value)];
  }
}

function dateSamples(versions: Iterable<VersionState>, date: 'deprecated' | 'sunset'): Iterable<Sample> {
  return valuedSamples(versions, ({ rules: { schedule } }) => schedule[date] && schedule[date] / 1000);
}

/**
 * api, version, policy, mode. The value is always 1. `mode`: `shared`, or how the limit works without its store. A
 * limit has several modes if its operations differ from the version.
 */
export function* limitModeSamples(
  versions: Iterable<VersionState>,
  shared: boolean,
  now: EpochMs,
): Iterable<Sample> {
  for (const { rules } of versions) {
    const modes = new Map<string, readonly string[]>();
    for (const [policy, { onStoreFailure }] of limitsInForce(rules, now)) {
      const mode = shared ? 'shared' : onStoreFailure;
      modes.set(`${policy} ${mode}`, [rules.api, rules.label, policy, mode]);
    }
    for (const labels of modes.values()) yield [labels, 1];
  }
}
