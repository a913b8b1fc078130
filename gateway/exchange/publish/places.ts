// The public URL of each version of an API, and when published pages change.
import type { ApiPlan, GatewayPlan } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { hasDates } from '../../policy/lifecycle/api-life.ts';
import { assess, type StageInput } from '../../policy/lifecycle/assess.ts';
import { nextOverrideChange } from '../../policy/lifecycle/override.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import { isForgotten } from '../../policy/lifecycle/retirement.ts';
import { isInMaintenance } from '../../policy/maintenance/maintenance.ts';
import { type Label, UNVERSIONED } from '../../policy/versioning/resolution.ts';

const VERSION = '{version}';

/** An API without versions may have no dates. */
export function hasLifecycle({ versions }: ApiPlan, moment: StageInput): boolean {
  return [...versions.values()].some((version) => {
    const { schedule } = assess(version, moment);
    return hasDates(schedule) && !isForgotten(schedule, moment.now);
  });
}

/** The URL of a version. All versions share one if neither path nor host names the version. */
export function placeOf(plan: GatewayPlan, api: ApiPlan, label: Label): string {
  const isVersioned = (template: string): boolean => template.includes(VERSION);
  const named = label === UNVERSIONED ? [] : api.paths.filter(isVersioned);
  const path = (named[0] ?? api.paths.find((each) => !isVersioned(each)) ?? '').replace(VERSION, label);
  const subdomain = named.length === 0 && label !== UNVERSIONED ? api.hosts.find(isVersioned) : undefined;
  const host = subdomain?.replace(VERSION, label) ?? hostOf(plan, api);
  const { protocol, port } = new URL(plan.public);
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${path}`;
}

/** The identifier of the API as a resource: its base on the public origin, without a final slash. */
export function resourceOf(plan: GatewayPlan, api: ApiPlan): string {
  const { protocol, port } = new URL(plan.public);
  return `${protocol}//${hostOf(plan, api)}${port === '' ? '' : `:${port}`}${api.base.replace(/\/$/, '')}`;
}

/** The public host, or the first host of the API if it is not served on the public host. */
function hostOf(plan: GatewayPlan, api: ApiPlan): string {
  const { hostname } = new URL(plan.public);
  const hosts = api.hosts.filter((host) => !host.includes(VERSION));
  return hosts.includes(hostname) ? hostname : (hosts[0] ?? hostname);
}

/** Milliseconds until anything published about the APIs changes, or `Infinity`. */
export function changesIn(apis: readonly ApiPlan[], moment: StageInput): number {
  const { now, overrides } = moment;
  let next = Number.POSITIVE_INFINITY;
  for (const api of apis) {
    for (const version of api.versions.values()) {
      next = Math.min(next, nextOverrideChange(overrides, version, now));
      for (const each of [version, ...(version.operations?.list ?? [])]) {
        const { schedule, phases, brownouts, knownUntil = next } = assess(each, moment);
        const { forgotten } = schedule;
        next = Math.min(next, phaseAt(phases, now).until, brownouts?.nextChange(now) ?? next, knownUntil);
        if (forgotten !== undefined && !isForgotten(schedule, now)) next = Math.min(next, forgotten);
      }
    }
  }
  return next - now;
}

/** Milliseconds until a maintenance of the API ends, or `Infinity` without one. `now`: the real time. */
export function maintenanceEndsIn({ versions }: ApiPlan, now: EpochMs): number {
  let next = Number.POSITIVE_INFINITY;
  for (const version of versions.values()) {
    for (const { maintenance } of [version, ...(version.operations?.list ?? [])])
      if (isInMaintenance(maintenance, now)) next = Math.min(next, maintenance.until - now);
  }
  return next;
}
