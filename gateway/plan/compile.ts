// Documents that passed every check to the plan: inheritance resolved, phases and routes built, nothing left to decide.
// Pure: files in, plan out.

import type { AccessRule } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import { createPhases } from '../policy/lifecycle/phases.ts';
import type { Schedule } from '../policy/lifecycle/schedule.ts';
import { type Label, UNVERSIONED } from '../policy/versioning/resolution.ts';
import { createResolutionRules } from '../policy/versioning/rules.ts';
import { hostsOf, pathsOf } from './check-together.ts';
import { compileLimits } from './compile-limits.ts';
import { compileUpstream } from './compile-upstream.ts';
import type { ApiPlan, GatewayPlan, VersionRules } from './plan.ts';
import type { PolicyFile, VersionFile } from './policy-grammar.ts';
import { effectiveSunset, redirectEnd, redirectOf } from './redirects.ts';
import { createRouteTable } from './route-table.ts';
import type { Settings } from './settings.ts';

export interface PlanInput {
  readonly settings: Settings;
  readonly policies: readonly PolicyFile[];
  readonly revision: string;
  /** Lifecycle instant at which redirect chains are collapsed (RET-4). */
  readonly now: EpochMs;
}

export function compilePlan({ settings, policies, revision, now }: PlanInput): GatewayPlan {
  const compiled = policies.map((file) => ({ file, api: compileApi(file, settings, now) }));
  const routes = compiled.flatMap(({ file, api }) =>
    api.hosts.flatMap((host) => pathsOf(file).map(({ path }) => ({ host, path, route: api }))),
  );
  return {
    revision,
    public: settings.public,
    apis: compiled.map(({ api }) => api),
    routes: createRouteTable(routes),
    guard: settings.guard,
    credentialsInUrl: new Set(settings.credentialsInUrl),
  };
}

function compileApi(file: PolicyFile, settings: Settings, now: EpochMs): ApiPlan {
  const header = carrier(file, 'header');
  const labels = typeof file.versions === 'object' ? Object.keys(file.versions) : [UNVERSIONED];
  const versions =
    typeof file.versions === 'object'
      ? compileVersions(file, new Map(Object.entries(file.versions)), settings, now)
      : [compileUnversioned(file)];
  return {
    name: file.api,
    hosts: hostsOf(file, settings.public),
    base: file.base,
    versionedPath: carrier(file, 'path'),
    resolution: createResolutionRules({
      labels,
      header,
      default: typeof file.versions === 'object' ? carrier(file, 'default') : UNVERSIONED,
    }),
    versions: new Map(versions.map((rules) => [rules.label, rules])),
    vary: header ?? '',
  };
}

function compileVersions(
  file: PolicyFile,
  versions: ReadonlyMap<Label, VersionFile>,
  settings: Settings,
  now: EpochMs,
): readonly VersionRules[] {
  const form = file.deprecation_header ?? settings.deprecationForm;
  return [...versions].map(([label, version]): VersionRules => {
    const schedule = compileSchedule(version);
    const upstream = file.upstreams?.[label];
    return {
      api: file.api,
      label,
      schedule,
      phases: createPhases(schedule, { label, form, warning: file.warning ?? true }),
      access: compileAccess(file),
      limits: compileLimits(file, version.limits),
      upstream:
        upstream &&
        compileUpstream(upstream, { name: `${file.api}-${label}`, base: file.base, unversioned: false }),
      successorPath: schedule.successor && pathOf(file, schedule.successor),
      redirectPath: redirectPathOf(file, label, versions, now),
    };
  });
}

/** `versions: none`: one label, one upstream of any name, always active. */
function compileUnversioned(file: PolicyFile): VersionRules {
  const schedule: Schedule = {
    released: 0,
    deprecated: undefined,
    sunset: undefined,
    retired: undefined,
    successor: undefined,
    guide: undefined,
    status: undefined,
    reason: undefined,
    after: { kind: 'gone' },
  };
  const [upstream] = Object.values(file.upstreams ?? {});
  return {
    api: file.api,
    label: UNVERSIONED,
    schedule,
    phases: createPhases(schedule, {
      label: UNVERSIONED,
      form: 'rfc9745',
      warning: false,
      unversioned: true,
    }),
    access: compileAccess(file),
    limits: compileLimits(file, undefined),
    upstream: upstream && compileUpstream(upstream, { name: file.api, base: file.base, unversioned: true }),
    successorPath: undefined,
    redirectPath: undefined,
  };
}

function compileSchedule(version: VersionFile): Schedule {
  const { after } = version;
  return {
    released: version.released,
    deprecated: version.deprecated,
    sunset: effectiveSunset(version),
    retired: version.retired,
    // Where a version redirects to is where to go, unless another is named (RET-8).
    successor: version.successor ?? redirectOf(version),
    guide: version.guide,
    status: version.status,
    reason: version.reason,
    after:
      typeof after === 'object'
        ? { kind: 'redirect', to: after.redirect, unsafe: after.unsafe ?? 308 }
        : { kind: 'gone' },
  };
}

function compileAccess({ access }: PolicyFile): AccessRule {
  if (access === 'public') return { kind: 'public' };
  const { read = [], write = [] } = access.scopes ?? {};
  return { kind: 'token', identity: access.identity, scopes: { read, write } };
}

function redirectPathOf(
  file: PolicyFile,
  label: Label,
  versions: ReadonlyMap<Label, VersionFile>,
  now: EpochMs,
): string | undefined {
  const end = redirectEnd(label, versions, now);
  return end.kind === 'ends' ? pathOf(file, end.at) : undefined;
}

/** Where a version lives, up to the tail: its path form when the path carries versions, else the base. */
function pathOf(file: PolicyFile, label: Label): string {
  const path = carrier(file, 'path')?.replace('{version}', label) ?? file.base;
  return path === '/' ? '' : path;
}

function carrier(file: PolicyFile, kind: 'path' | 'header' | 'default'): string | undefined {
  return file.resolve?.map((entry) => entry[kind]).find((value) => value !== undefined);
}
