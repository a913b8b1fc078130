// Gauges of every API and version as it stands at scrape: its stage, its dates, whether it is paused, how it is limited.
// Nothing is stored: a stage is derived from dates, overrides and the lifecycle clock here as everywhere.
import type { apisStanding, Standing } from '../exchange/standing.ts';
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

/** api, version, policy, mode; the value is always 1. `shared`, or what the limit does while their store is away. */
export function* limitModeSamples(versions: Iterable<Standing>, shared: boolean): Iterable<Sample> {
  for (const { rules } of versions) {
    for (const { active, onStoreFailure } of rules.limits?.each ?? [])
      yield [[rules.api, rules.label, active.name, shared ? 'shared' : onStoreFailure], 1];
  }
}
