// The API catalog (RFC 9727) as a linkset (RFC 9264): the published APIs and their lifecycle pages.
import type { ApiPlan, GatewayPlan, VersionRules } from '../../plan/plan.ts';
import { API_CATALOG, lifecycleUrl } from '../../plan/routes/reserved-paths.ts';
import { assess, type StageInput } from '../../policy/lifecycle/assess.ts';
import { link, linkTarget } from '../../policy/lifecycle/links.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import type { Stage } from '../../policy/lifecycle/schedule.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { successorIn } from '../linked-versions.ts';
import type { RequestView } from '../request-view.ts';
import { changesIn, hasLifecycle, placeOf } from './places.ts';
import { type Publication, page } from './publication.ts';

interface LinkTarget {
  readonly href: string;
  readonly type?: string;
}

/** A context object. Each relation is a list, even with one target (CAT-2). */
type LinkContext = { readonly anchor: string } & Readonly<Record<string, string | readonly LinkTarget[]>>;

export function catalogPage(plan: GatewayPlan, moment: StageInput, view: RequestView): Publication {
  const url = plan.public + API_CATALOG;
  const contexts = contextsOf(plan, moment);
  const item = contexts.map(({ anchor }) => ({ href: anchor }));
  const body = JSON.stringify({ linkset: [{ anchor: url, item }, ...contexts] });
  const headers = {
    'content-type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    link: catalogLink(plan),
  };
  return page(body, headers, view.headers, changesIn(plan.apis, moment));
}

/** Links the catalog from `/` and from itself (RFC 9727 §2, §3). */
export function catalogLink(plan: GatewayPlan): string {
  return link(plan.public + API_CATALOG, 'api-catalog');
}

/** One context per place. Versions that share a place share one context, with the links of the whole API. */
function contextsOf(plan: GatewayPlan, moment: StageInput): readonly LinkContext[] {
  const byPlace = new Map<string, LinkContext>();
  for (const api of plan.apis) {
    const served = [...api.versions.values()].filter((version) => isServed(version, moment));
    for (const version of served) {
      const anchor = linkTarget(placeOf(plan, api, version.label));
      const alone = version.label === UNVERSIONED || anchor !== linkTarget(placeOf(plan, api, UNVERSIONED));
      byPlace.set(anchor, {
        anchor,
        ...serviceRelations(alone ? [version] : served),
        ...lifecycleRelations(plan, api, moment),
        ...(alone ? versionRelations(plan, api, version, moment) : {}),
      });
    }
  }
  return [...byPlace.values()];
}

/** RFC 8631. No media type is claimed, because the type of the linked document is unknown. */
function serviceRelations(
  versions: readonly VersionRules[],
): Readonly<Record<string, readonly LinkTarget[]>> {
  const named = (key: 'serviceDoc' | 'serviceDesc') =>
    [...new Set(versions.flatMap(({ schedule }) => schedule[key] ?? []))].map((href) => ({ href }));
  const [docs, descs] = [named('serviceDoc'), named('serviceDesc')];
  return {
    ...(descs.length === 0 ? {} : { 'service-desc': descs }),
    ...(docs.length === 0 ? {} : { 'service-doc': docs }),
  };
}

/** CAT-3: ended versions are not listed. Planned versions count as unknown (STAT-1). */
function isServed(version: VersionRules, moment: StageInput): boolean {
  const stage = stageOf(version, moment);
  return stage === 'active' || stage === 'deprecated';
}

function stageOf(version: VersionRules, moment: StageInput): Stage {
  return phaseAt(assess(version, moment).phases, moment.now).stage;
}

function lifecycleRelations(
  plan: GatewayPlan,
  api: ApiPlan,
  moment: StageInput,
): Readonly<Record<string, readonly LinkTarget[]>> {
  if (!hasLifecycle(api, moment)) return {};
  const href = lifecycleUrl(plan.public, api.name);
  return {
    'service-meta': [{ href, type: 'application/json' }],
    status: [{ href, type: 'text/html' }],
  };
}

function versionRelations(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  moment: StageInput,
): Readonly<Record<string, readonly LinkTarget[]>> {
  const { guide } = version.schedule;
  const successor = successorIn(api, version, moment);
  const relations: Record<string, readonly LinkTarget[]> = {};
  if (stageOf(version, moment) === 'deprecated' && guide !== undefined)
    relations.deprecation = [{ href: guide, type: 'text/html' }];
  if (successor !== undefined)
    relations['successor-version'] = [{ href: linkTarget(placeOf(plan, api, successor)) }];
  return relations;
}
