// Documents that passed every check to the plan: inheritance resolved, phases and routes built, nothing left to decide.
// Pure: files in, plan out.
import type { AccessRule } from '../policy/authentication/access.ts';
import { createPhases } from '../policy/lifecycle/phases.ts';
import type { Schedule } from '../policy/lifecycle/schedule.ts';
import { type Label, UNVERSIONED } from '../policy/versioning/resolution.ts';
import { createResolutionRules } from '../policy/versioning/rules.ts';
import { hostsOf, pathsOf } from './api-routes.ts';
import { compileLimits } from './compile-limits.ts';
import { compileUpstream, DEFAULT_VERSION_HEADER } from './compile-upstream.ts';
import type { ApiPlan, GatewayPlan, RedirectTarget, VersionRules } from './plan.ts';
import type { PolicyFile, VersionFile } from './policy-grammar.ts';
import { effectiveSunset, redirectChain, redirectOf } from './redirects.ts';
import { createRouteTable } from './route-table.ts';
import type { Settings } from './settings.ts';

export interface PlanInput {
  readonly settings: Settings;
  readonly policies: readonly PolicyFile[];
  readonly revision: string;
}

/** The same documents make the same plan on any day: what depends on the time is left to each request. */
export function compilePlan({ settings, policies, revision }: PlanInput): GatewayPlan {
  const apis = policies.map((file) => compileApi(file, settings));
  return {
    revision,
    public: settings.public,
    apis,
    routes: createRouteTable(
      apis.flatMap((api) =>
        api.hosts.flatMap((host) => api.paths.map((path) => ({ host, path, route: api }))),
      ),
    ),
    guard: settings.guard,
    credentialsInUrl: new Set(settings.credentialsInUrl),
  };
}

function compileApi(file: PolicyFile, settings: Settings): ApiPlan {
  const header = carrier(file, 'header');
  const versions = file.versions === 'none' ? [compileUnversioned(file)] : compileVersions(file, settings);
  return {
    name: file.api,
    hosts: hostsOf(file, settings.public),
    paths: pathsOf(file).map(({ path }) => path),
    resolution: createResolutionRules({
      labels: versions.map(({ label }) => label),
      header,
      default: carrier(file, 'default'),
    }),
    versions: new Map(versions.map((rules) => [rules.label, rules])),
    vary: header ?? '',
    versionHeaders: file.versions === 'none' ? [] : versionHeaders(header),
  };
}

function compileVersions(file: PolicyFile, settings: Settings): readonly VersionRules[] {
  const versions = new Map(typeof file.versions === 'object' ? Object.entries(file.versions) : []);
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
      successorPath: version.successor && pathOf(file, version.successor),
      redirects: redirectsOf(file, label, versions),
    };
  });
}

/** `versions: none`: one label, one upstream of any name, active at all times. */
function compileUnversioned(file: PolicyFile): VersionRules {
  const schedule: Schedule = {
    released: Number.NEGATIVE_INFINITY,
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
    phases: createPhases(schedule, { label: UNVERSIONED, form: 'rfc9745', warning: false }),
    access: compileAccess(file),
    limits: compileLimits(file, undefined),
    upstream: upstream && compileUpstream(upstream, { name: file.api, base: file.base, unversioned: true }),
    successorPath: undefined,
    redirects: [],
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

function redirectsOf(
  file: PolicyFile,
  label: Label,
  versions: ReadonlyMap<Label, VersionFile>,
): readonly RedirectTarget[] {
  // Where no path names the version, every target would be the URL just requested (RET-5).
  if (carrier(file, 'path') === undefined) return [];
  const chain = redirectChain(label, versions);
  if (chain.kind === 'cycle') return [];
  return chain.hops.map((hop) => ({ path: pathOf(file, hop.label), until: hop.until }));
}

/** The usual header too, whether the API reads it or not: an upstream may. */
function versionHeaders(header = DEFAULT_VERSION_HEADER): readonly string[] {
  return [...new Set([DEFAULT_VERSION_HEADER.toLowerCase(), header.toLowerCase()])];
}

/** Where a version lives, up to the tail: its path form when the path carries versions, else the base. */
function pathOf(file: PolicyFile, label: Label): string {
  const path = carrier(file, 'path')?.replace('{version}', label) ?? file.base;
  return path === '/' ? '' : path;
}

function carrier(file: PolicyFile, kind: 'path' | 'header' | 'default'): string | undefined {
  return file.resolve?.map((entry) => entry[kind]).find((value) => value !== undefined);
}
