// Gauges of every API and version as it stands at scrape: its stage, its dates, whether it is paused, how it is limited.
// Nothing is stored: a stage is derived from dates, overrides and the lifecycle clock here as everywhere.
import { type apisStanding, limitsInForce, type Standing } from '../exchange/standing.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Sample } from './series.ts';

/** api, stage; the value is always 1. */
export function* apiSamples(apis: ReturnType<typeof apisStanding>): Iterable<Sample> {
  for (const [api, stage] of apis) yield [[api, stage], 1];
}

/** api, version, stage, successor; the value is always 1. */
export function* versionSamples(versions: Iterable<Standing>): Iterable<Sample> {
  for (const { rules, stage } of versions)
    yield [[rules.api, rules.label, stage, rules.schedule.successor ?? ''], 1];
}

/** api, version; seconds since 1970 of a date that the version has. */
export function* dateSamples(versions: Iterable<Standing>, date: 'deprecated' | 'sunset'): Iterable<Sample> {
  for (const { rules } of versions) {
    const instant = rules.schedule[date];
    if (instant !== undefined) yield [[rules.api, rules.label], instant / 1000];
  }
}

/** api, version; 1 while a pause holds the version, else 0. */
export function* pausedSamples(versions: Iterable<Standing>): Iterable<Sample> {
  for (const { rules, paused } of versions)
    if (paused !== undefined) yield [[rules.api, rules.label], paused ? 1 : 0];
}

/**
 * api, version, policy, mode; the value is always 1. `shared`, or what the limit does while its store is away: more than one
 * where operations say other than their version.
 */
export function* limitModeSamples(
  versions: Iterable<Standing>,
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
