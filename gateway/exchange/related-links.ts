// Links from an answer to the same resource in versions beside its successor (RFC 5829): the newest, and the one before.
// Part of the lifecycle step of the pipeline; an answer carries them after those of its phase.
import type { ApiPlan, GatewayPlan, VersionRules } from '../plan/plan.ts';
import { assess, type Moment } from '../policy/lifecycle/assess.ts';
import { link } from '../policy/lifecycle/links.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import type { Phase, Stage } from '../policy/lifecycle/schedule.ts';
import type { Label } from '../policy/versioning/resolution.ts';
import { placeUrl, type Resource } from './successor-url.ts';

/**
 * `latest-version` on what is deprecated or gone, where that is not the successor itself; `predecessor-version` for as
 * long as that one is served. Undefined where there is neither, as for versions that only a header tells apart.
 */
export function relatedLinks(
  { plan, now, overrides }: Moment & { readonly plan: GatewayPlan },
  api: ApiPlan,
  version: VersionRules,
  { stage }: Phase,
  { tail }: Resource,
): string | undefined {
  const isCurrent = stage === 'active' || stage === 'planned';
  if (isCurrent && version.predecessors.length === 0) return undefined;
  const stageOf = (label: Label): Stage | undefined => {
    const there = api.versions.get(label);
    return there && phaseAt(assess(there, { now, overrides }).phases, now).stage;
  };
  const linkTo = (label: Label | undefined, rel: string): readonly string[] => {
    const place = label === undefined ? undefined : api.versions.get(label)?.place;
    if (place === undefined || place === version.place) return [];
    return [link(placeUrl(plan, { path: place }) + tail, rel)];
  };
  const latest = isCurrent ? undefined : api.resolution.labels.find((label) => stageOf(label) === 'active');
  const before = version.predecessors.find((label) => /^(?:active|deprecated)$/.test(stageOf(label) ?? ''));
  const links = [
    ...(latest === version.schedule.successor ? [] : linkTo(latest, 'latest-version')),
    ...linkTo(before, 'predecessor-version'),
  ];
  return links.length === 0 ? undefined : links.join(', ');
}
