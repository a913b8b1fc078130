// Where the versions of an API are found from outside: absolute, per version where the path tells versions apart.
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

/** Whether an API has a date that is announced and not forgotten: one without versions may have none. */
export function hasLifecycle({ versions }: ApiPlan, moment: StageInput): boolean {
  return [...versions.values()].some((version) => {
    const { schedule } = assess(version, moment);
    return hasDates(schedule) && !isForgotten(schedule, moment.now);
  });
}

/** The URL under which a version is called; all share one where neither path nor host names it. */
export function placeOf(plan: GatewayPlan, api: ApiPlan, label: Label): string {
  const isVersioned = (template: string): boolean => template.includes(VERSION);
  const named = label === UNVERSIONED ? [] : api.paths.filter(isVersioned);
  const path = (named[0] ?? api.paths.find((each) => !isVersioned(each)) ?? '').replace(VERSION, label);
  const subdomain = named.length === 0 && label !== UNVERSIONED ? api.hosts.find(isVersioned) : undefined;
  const host = subdomain?.replace(VERSION, label) ?? hostOf(plan, api);
  const { protocol, port } = new URL(plan.public);
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${path}`;
}

/** What the API is called by: its base on the public face, without a slash at the end. */
export function resourceOf(plan: GatewayPlan, api: ApiPlan): string {
  const { protocol, port } = new URL(plan.public);
  return `${protocol}//${hostOf(plan, api)}${port === '' ? '' : `:${port}`}${api.base.replace(/\/$/, '')}`;
}

/** The public host, or one of the API's own where it is not served on that. */
function hostOf(plan: GatewayPlan, api: ApiPlan): string {
  const { hostname } = new URL(plan.public);
  const hosts = api.hosts.filter((host) => !host.includes(VERSION));
  return hosts.includes(hostname) ? hostname : (hosts[0] ?? hostname);
}

/** Milliseconds until anything published of the APIs changes; `Infinity` when nothing will. */
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

/** Milliseconds until a maintenance of an API ends; `Infinity` where none holds. `now`: the real time. */
export function maintenanceEndsIn({ versions }: ApiPlan, now: EpochMs): number {
  let next = Number.POSITIVE_INFINITY;
  for (const version of versions.values()) {
    for (const { maintenance } of [version, ...(version.operations?.list ?? [])])
      if (isInMaintenance(maintenance, now)) next = Math.min(next, maintenance.until - now);
  }
  return next;
}
