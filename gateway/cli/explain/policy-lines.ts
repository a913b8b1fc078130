// Finds the line of the files behind a decision: tries the most specific place first.

import type { PlanSources } from '../../plan/load.ts';
import type { VersionRules } from '../../plan/plan.ts';
import type { Origin, Path, SourceDocument } from '../../plan/read/document.ts';
import { valueAt } from '../../plan/read/values.ts';
import { versionsOf } from '../../plan/versions.ts';
import type { Phase } from '../../policy/lifecycle/schedule.ts';
import type { Limit, LimitRule } from '../../policy/rate-limit/limit.ts';
import { DEFAULT_LIMIT } from '../../policy/rate-limit/lowering.ts';
import type { Carrier } from '../../policy/versioning/carriers.ts';
import type { OperationFile, PolicyFile, VersionFile } from '../../sections/policy-file.ts';
import { versionPath } from '../../sections/view.ts';

/** Carriers with another key in the file. */
const KEYS: Readonly<Partial<Record<Carrier, string>>> = { accept: 'media_type', content_type: 'media_type' };

/** The key, or the preset that implies it. */
const ENCODED_SLASH: readonly Path[] = [['paths', 'encoded_slash'], ['paths', 'preset'], ['paths']];

interface PolicyLine {
  readonly text: string;
  readonly origin: Origin | undefined;
}

export type PolicyLines = ReturnType<typeof policyLines>;

/** For requests to `api`. If undefined, only lines of the gateway file are found. */
export function policyLines(sources: PlanSources, api: string | undefined) {
  const source = sources.policies.find(({ file }) => file.api === api);
  const first = (...paths: readonly Path[]) => originOf(source?.document, paths);
  const resolve = source?.file.resolve ?? [];
  const labels = source === undefined ? [] : [...versionsOf(source.file).keys()];
  const entryOf = (key: string) => resolve.findIndex((entry) => Object.hasOwn(entry, key));
  return {
    guard: originOf(sources.gateway, [['guard']]),
    credentialsInUrl: originOf(sources.gateway, [['credentials_in_url']]),
    certificates: originOf(sources.gateway, [['listeners', 'https', 'tls', 'certificates']]),
    /** Where the API is reached: a path with the version in it, or its base. */
    route: (versioned: boolean): PolicyLine | undefined => {
      if (source === undefined) return undefined;
      const index = versioned ? entryOf('path') : -1;
      const path = resolve[index]?.path;
      return path === undefined
        ? { text: source.file.base, origin: first(['base']) }
        : { text: path, origin: first(['resolve', index, 'path']) };
    },
    base: (name: string) =>
      originOf(sources.policies.find(({ file }) => file.api === name)?.document, [['base']]),
    encodedSlash: first(...ENCODED_SLASH) ?? originOf(sources.gateway, ENCODED_SLASH),
    operations: first(...labels.map((label) => [...versionPath(label), 'operations'])),
    /** The operation, or the version. */
    rules: (rules: VersionRules) => first(...within(rules), ['versions']),
    carrier: (carrier: Carrier | undefined) => {
      const index = carrier === undefined ? -1 : entryOf(KEYS[carrier] ?? carrier);
      return index < 0 ? first(['resolve'], ['versions']) : first(['resolve', index]);
    },
    /** The key of the operation, else of the version, else of the API. */
    key: (rules: VersionRules | undefined, key: keyof OperationFile | keyof VersionFile) =>
      first(...within(rules, key), [key]),
    phase: (rules: VersionRules, phase: Phase) => first(...datesOf(rules, phase, source?.file)),
    brownout: (rules: VersionRules, rule: number) =>
      first(...within(rules, 'brownouts').flatMap((path) => [[...path, rule], path])),
    exception: (rules: VersionRules, index: number) =>
      first(...within(rules, 'exceptions').flatMap((path) => [[...path, index], path])),
    /** As for `key`, or else the limit in the gateway file. */
    size: (rules: VersionRules) =>
      first(...within(rules, 'max_body'), ['max_body']) ?? originOf(sources.gateway, [['bounds', 'body']]),
    /** Identity, address and method override headers that are forwarded unchanged. */
    kept: first(['headers', 'request', 'keep']),
    upstreamWins: first(['upstream_wins']),
    locations: first(['locations']),
    afterlife: (rules: VersionRules) =>
      first(...within(rules, 'after'), ...within(rules, 'sunset'), ...within(rules, 'retired')),
    limit: (rules: VersionRules, limit: Limit) => {
      const { active } = rules.limits?.each.find((each) => isOf(limit, each)) ?? { active: limit };
      const isLower = limit.units !== active.units || limit.windowMs !== active.windowMs;
      const keys = isLower ? ['deprecated', 'rate'] : ['rate', 'deprecated'];
      const places = placesOf(active.name, [...within(rules, 'limits'), ['limits']], source?.document);
      return first(...keys.flatMap((key) => places.map((place) => [...place, key])), ['limits']);
    },
    upstream: ({ label }: VersionRules) => first(['upstreams', label], ['upstreams']),
  };
}

/** Places of a key: in the operation, then in its version. */
function within(rules: VersionRules | undefined, ...key: Path): readonly Path[] {
  if (rules === undefined) return [];
  const version = versionPath(rules.label);
  const ofVersion: Path = [...version, ...key];
  return rules.operation === undefined
    ? [ofVersion]
    : [[...version, 'operations', rules.operation, ...key], ofVersion];
}

function datesOf(rules: VersionRules, { stage }: Phase, file: PolicyFile | undefined): readonly Path[] {
  const version = file && versionsOf(file).get(rules.label);
  const last = (version?.extended?.length ?? 0) - 1;
  const ofVersion = (...keys: Path): Path => [...versionPath(rules.label), ...keys];
  // An operation ends at its own sunset, or else with its version.
  const own = within(rules, 'sunset').slice(0, -1);
  const extension = last < 0 ? [] : [ofVersion('extended', last)];
  const sunset = [...own, ...extension, ofVersion('sunset'), ofVersion('retired')];
  switch (stage) {
    case 'planned':
    case 'active':
      return [...within(rules, 'released'), ['versions']];
    case 'deprecated':
      return within(rules, 'deprecated');
    case 'sunset':
      return sunset;
    case 'retired':
      return [...own, ofVersion('retired'), ...sunset];
    default:
      return stage satisfies never;
  }
}

function isOf({ name }: Limit, { active, deprecated }: LimitRule): boolean {
  return name === active.name || name === deprecated.name;
}

/** Places of a limit in `sections`, nearest first. `off` ends the search. */
function placesOf(
  name: string,
  sections: readonly Path[],
  document: SourceDocument | undefined,
): readonly Path[] {
  const places: Path[] = [];
  for (const section of sections) {
    const value = valueAt(document?.value, section);
    if (value === 'off') break;
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    const index = list.findIndex((each) => (valueAt(each, ['name']) ?? DEFAULT_LIMIT) === name);
    if (index >= 0) places.push(Array.isArray(value) ? [...section, index] : section);
  }
  return places;
}

function originOf(document: SourceDocument | undefined, paths: readonly Path[]): Origin | undefined {
  for (const path of paths) {
    const origin = document?.origin(path);
    if (origin !== undefined) return origin;
  }
  return undefined;
}
