// Gauges read from the current plan at scrape: the stage and the dates of every version.
// Nothing is stored: a stage is derived from dates and the lifecycle clock here as everywhere.
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Sample } from './series.ts';

/** api, version, stage, successor; the value is always 1. */
export function* versionSamples(plan: GatewayPlan, now: EpochMs): Iterable<Sample> {
  for (const { api, label, phases, schedule } of versionsOf(plan)) {
    const phase = phases.find(({ from, until }) => from <= now && now < until);
    if (phase !== undefined) yield [[api, label, phase.stage, schedule.successor ?? ''], 1];
  }
}

/** api, version; seconds since 1970 of a date that the version has. */
export function* dateSamples(plan: GatewayPlan, date: 'deprecated' | 'sunset'): Iterable<Sample> {
  for (const { api, label, schedule } of versionsOf(plan)) {
    const instant = schedule[date];
    if (instant !== undefined) yield [[api, label], instant / 1000];
  }
}

function* versionsOf(plan: GatewayPlan): Iterable<VersionRules> {
  for (const api of plan.apis) yield* api.versions.values();
}
