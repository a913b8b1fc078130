// The dates of a version, and its rules as they are known before each later announcement.
// Part of compiling one version; per request only `knownAt` looks at them.
import type { EpochMs } from '../../policy/contract.ts';
import type { Schedule } from '../../policy/lifecycle/schedule.ts';
import type { VersionFile } from '../grammar/policy-grammar.ts';
import type { VersionRules } from '../plan.ts';
import { effectiveSunset, successorOf } from '../redirects.ts';

/** What depends on dates, and so on what is announced of them. */
export type DatedRules = Pick<VersionRules, 'schedule' | 'phases' | 'exceptions' | 'brownouts' | 'limits'>;

/** `instants`: of the announcements, in time order; `datedAt`: the part of the rules that is known by an instant. */
export function withAnnouncements(
  rules: VersionRules,
  instants: readonly EpochMs[],
  datedAt: (known: EpochMs) => DatedRules,
): VersionRules {
  if (instants.length === 0) return rules;
  const earlier = instants.map((knownUntil, index) => ({
    ...rules,
    ...datedAt(instants[index - 1] ?? Number.NEGATIVE_INFINITY),
    knownUntil,
  }));
  return { ...rules, earlier };
}

/** `published`: where the gateway itself tells of the API's life; `urlOf`: where a guide is read. */
export function compileSchedule(
  version: VersionFile,
  published: string,
  urlOf: (guide: string) => string,
): Schedule {
  const { after } = version;
  return {
    released: version.released,
    announced: version.announced,
    deprecated: version.deprecated,
    published: version.sunset,
    extended: version.extended?.map(({ to, announced }) => ({ to, announced })),
    sunset: effectiveSunset(version),
    retired: version.retired,
    forgotten: version.forgotten,
    // Where a version redirects to is where to go, unless another is named (RET-8).
    successor: successorOf(version),
    alternate: version.alternate,
    guide: version.guide && urlOf(version.guide),
    status: version.status ?? published,
    serviceDoc: version.service_doc,
    serviceDesc: version.service_desc,
    reason: version.reason,
    after:
      typeof after === 'object'
        ? { kind: 'redirect', to: after.redirect, unsafe: after.unsafe ?? 308 }
        : { kind: 'gone' },
  };
}
