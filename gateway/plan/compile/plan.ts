// Compiles checked documents to the plan: resolves inheritance, builds phases and routes.
import type { EpochMs } from '../../policy/contract.ts';
import { announcementsOf, knownSchedule } from '../../policy/lifecycle/announcements.ts';
import { createPhases, phasesWith } from '../../policy/lifecycle/phases.ts';
import type { Schedule } from '../../policy/lifecycle/schedule.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { compiledBy } from '../../sections/list.ts';
import type { PolicyFile } from '../../sections/policy-file.ts';
import { placeOf } from '../../sections/routes/compile.ts';
import {
  compileBrownouts,
  compileExceptions,
  compileSchedule,
  successionOf,
  withAnnouncements,
} from '../../sections/schedule/compile.ts';
import { signalsOfPhases } from '../../sections/signals/compile.ts';
import { compileUpstream, withheldByAll } from '../../sections/upstreams/compile.ts';
import { guideUrl } from '../guides/guide-page.ts';
import type { ApiPlan, GatewayPlan, VersionRules } from '../plan.ts';
import { lifecycleUrl } from '../routes/reserved-paths.ts';
import { createRouteTableBuilder } from '../routes/route-table.ts';
import type { Settings } from '../settings.ts';
import { answerFieldsOf } from '../upstreams/answer-fields.ts';
import { nestedVersionPaths } from '../upstreams/upstream-places.ts';
import { versionsOf } from '../versions.ts';
import { compileOperations } from './operations.ts';

export interface PlanInput {
  readonly settings: Settings;
  readonly apis: Iterable<ApiPlan>;
  readonly revision: string;
}

/** Builds the plan step by step. A step adds one API. */
export function* planSteps({ settings, apis: given, revision }: PlanInput): Generator<void, GatewayPlan> {
  const apis = new Map<string, ApiPlan>();
  const routes = createRouteTableBuilder<ApiPlan>();
  for (const api of given) {
    if (api.isLeftOut !== true) apis.set(api.name, api);
    for (const host of api.hosts) for (const path of api.paths) routes.add({ host, path, route: api });
    yield;
  }
  return {
    revision,
    public: settings.public,
    apis: [...apis.values()],
    apiNamed: (name) => apis.get(name),
    routes: routes.table,
    guard: settings.guard,
    credentialsInUrl: new Set(settings.credentialsInUrl),
  };
}

/** The result does not depend on the day: requests evaluate dates. */
export function compileApi(file: PolicyFile, settings: Settings): ApiPlan {
  const apiRules = compiledBy('compileApi', file, settings);
  const versions = compileVersions(file, apiRules, settings);
  return {
    name: file.api,
    ...apiRules,
    inside: nestedVersionPaths(versions),
    hasOperations: versions.some(({ operations }) => operations !== undefined),
    hasBodyNotice: versions.some(
      (one) => one.bodyNotice || one.operations?.list.some((each) => each.bodyNotice),
    ),
    versions: new Map(versions.map((rules) => [rules.label, rules])),
    releases: releasesOf(versions),
    guides: file.guides ?? [],
    ...(file.isLeftOut && { isLeftOut: true }),
  };
}

function compileVersions(
  file: PolicyFile,
  ofApi: Pick<ApiPlan, 'access' | 'headers' | 'keyHeaders' | 'versionHeaders'>,
  settings: Settings,
): readonly VersionRules[] {
  const versions = versionsOf(file);
  const pathOf = placeOf(file, settings.public);
  const ofUpstreams = { withheld: withheldByAll(file, ofApi), answerFields: answerFieldsOf(ofApi.headers) };
  return [...versions].map(([label, version]): VersionRules => {
    const page = lifecycleUrl(settings.public, file.api);
    const urlOf = (guide: string) => guideUrl(guide, settings.public, file.api);
    const schedule = compileSchedule(version, page, urlOf);
    const options = {
      label: label === UNVERSIONED ? undefined : label,
      page,
      ...signalsOfPhases(file, settings),
    };
    const phasesOf = (dates: Schedule) => createPhases(dates, options);
    const upstream = compileUpstream(file, label, ofUpstreams);
    const brownouts = compileBrownouts(version.brownouts);
    const datedAt = (known: EpochMs) => {
      const dates = knownSchedule(schedule, known);
      return {
        schedule: dates,
        phases: phasesWith(upstream, phasesOf(dates)),
        exceptions: compileExceptions(version.exceptions, dates, phasesOf, upstream !== undefined),
        brownouts: brownouts(dates, known),
        ...compiledBy('compileDated', { file, label, version, schedule: dates, operation: undefined }),
      };
    };
    const rules: VersionRules = {
      api: file.api,
      label,
      operation: undefined,
      operations: undefined,
      ...datedAt(Number.POSITIVE_INFINITY),
      phasesOf,
      ...compiledBy('compileVersion', { file, settings, label, version, ofApi }),
      upstream,
      place: pathOf(label),
      ...successionOf(label, versions, pathOf),
    };
    const announced = withAnnouncements(rules, announcementsOf(schedule, version.brownouts), datedAt);
    const operations = compileOperations({ file, version, rules: announced, options, pathOf, urlOf });
    const earlier = announced.earlier?.map((each) => ({ ...each, operations }));
    return { ...announced, operations, ...(earlier && { earlier }) };
  });
}

function releasesOf(versions: readonly VersionRules[]): ApiPlan['releases'] {
  const released = versions.map(({ phases }) => phases.find(({ stage }) => stage !== 'planned')?.from);
  return released.filter((at) => at !== undefined).sort((a, b) => a - b);
}
