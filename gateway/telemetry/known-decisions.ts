// More series that a plan makes possible: what limits decide, how versions are found, which deprecated operations are called.
// At 0 until something is counted, for the reason that known-series.ts gives. Made at scrape, from the plan in force.
import { phasesOf } from '../exchange/standing.ts';
import type { ApiPlan, GatewayPlan } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { LimitRule } from '../policy/rate-limit/limit.ts';
import type { Carrier } from '../policy/versioning/resolution.ts';
import type { Labels } from './known-series.ts';
import { type CARRIERS, type DECISIONS, NONE, OTHER, type RESOLUTIONS } from './request-labels.ts';

type Decision = (typeof DECISIONS)[number];
type Resolved = readonly [(typeof CARRIERS)[number], (typeof RESOLUTIONS)[number]];

/** api, version, policy, decision: of each limit by the name it now has, and of the guard, which knows no API. */
export function* knownDecisions(plan: GatewayPlan, now: EpochMs): Iterable<Labels> {
  if (plan.guard !== undefined) yield [NONE, NONE, plan.guard.name, 'limited' satisfies Decision];
  for (const { versions, mode } of plan.apis) {
    for (const version of versions.values()) {
      for (const [{ api, label, limits }, { stage }] of phasesOf(version, now)) {
        if (stage !== 'active' && stage !== 'deprecated') continue;
        for (const rule of limits?.each ?? [])
          for (const decision of decisionsOf(rule, mode)) yield [api, label, rule[stage].name, decision];
      }
    }
  }
}

function decisionsOf({ shadow }: LimitRule, mode: ApiPlan['mode']): readonly Decision[] {
  return ['allowed', shadow || mode === 'observe' ? 'shadow_limited' : 'limited', 'degraded'];
}

/** api, version, operation: of a version that has operations, those that are deprecated, and the rest. */
export function* knownOperations({ apis }: GatewayPlan, now: EpochMs): Iterable<Labels> {
  for (const { versions } of apis) {
    for (const version of versions.values()) {
      if (version.operations === undefined) continue;
      for (const [{ api, label, operation = OTHER }, { stage }] of phasesOf(version, now))
        if (stage === 'deprecated') yield [api, label, operation];
    }
  }
}

/** api, carrier, outcome: what a request can say of its version, and say wrongly. */
export function* knownResolutions({ apis }: Pick<GatewayPlan, 'apis'>): Iterable<Labels> {
  for (const api of apis) for (const resolved of resolutionsOf(api)) yield [api.name, ...resolved];
}

function* resolutionsOf(api: ApiPlan): Iterable<Resolved> {
  // The label of the one version of an API that has none.
  if (api.versions.has(NONE)) {
    yield ['unversioned', 'matched'];
    return;
  }
  for (const carrier of carriersOf(api)) {
    yield [carrier, 'matched'];
    yield [carrier, 'unknown'];
  }
  if (api.resolution.default === undefined) yield [NONE, 'missing'];
  else yield ['default', 'default'];
  yield [NONE, 'conflict'];
}

/** Those that a plan tells apart by itself; a subdomain is a host like another there. */
function* carriersOf({ paths, resolution: { header, query, mediaTypes } }: ApiPlan): Iterable<Carrier> {
  if (paths.some((path) => path.includes('{version}'))) yield 'path';
  if (header !== undefined) yield 'header';
  if (query !== undefined) yield 'query';
  if (mediaTypes.length > 0) yield 'accept';
}
