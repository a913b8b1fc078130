// Links from an answer to the same resource in versions beside its successor (RFC 5829): the newest, and the one before.
// Part of the lifecycle step of the pipeline; an answer carries them after those of its phase.
import type { ApiPlan, GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { assess, type Moment } from '../policy/lifecycle/assess.ts';
import { type LinkFrame, linkFrame, linkTarget } from '../policy/lifecycle/links.ts';
import { nextOverrideChange } from '../policy/lifecycle/override.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import type { Phase } from '../policy/lifecycle/schedule.ts';
import type { Label } from '../policy/versioning/resolution.ts';
import { placeUrl, type Resource } from './successor-url.ts';

type PlanMoment = Moment & { readonly plan: GatewayPlan };

/** The links of a version, the tail of a resource excepted: for these overrides, and from <= now < until. */
interface Related {
  readonly overrides: Moment['overrides'];
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly frames: readonly LinkFrame[];
}

/** A version belongs to one plan, and within it to one pause. */
const related = new WeakMap<VersionRules, Related>();

/**
 * `latest-version` on what is deprecated or gone, where that is not the successor itself; `predecessor-version` for as
 * long as that one is served. Undefined where there is neither, as for versions that only a header tells apart. Made
 * when a stage changes anywhere in the API; per resource only the tail is put in.
 */
export function relatedLinks(
  moment: PlanMoment,
  api: ApiPlan,
  version: VersionRules,
  phase: Phase,
  { tail }: Resource,
): string | undefined {
  const { stage } = phase;
  const isCurrent = stage === 'active' || stage === 'planned';
  if (isCurrent && version.predecessors.length === 0) return undefined;
  const { now, overrides } = moment;
  let known = related.get(version);
  if (known?.overrides !== overrides || now < known.from || now >= known.until) {
    known = relate(moment, api, version, isCurrent, phase.until);
    related.set(version, known);
  }
  if (known.frames.length === 0) return undefined;
  const safe = linkTarget(tail);
  return known.frames.map(({ before, after }) => before + safe + after).join(', ');
}

function relate(
  { plan, now, overrides }: PlanMoment,
  api: ApiPlan,
  version: VersionRules,
  isCurrent: boolean,
  ownUntil: EpochMs,
): Related {
  let until = ownUntil;
  const stages = new Map(
    [...api.versions.values()].map((each) => {
      const phase = phaseAt(assess(each, { now, overrides }).phases, now);
      until = Math.min(until, phase.until, nextOverrideChange(overrides, each, now));
      return [each.label, phase.stage];
    }),
  );
  const frameTo = (label: Label | undefined, rel: string): readonly LinkFrame[] => {
    const place = label === undefined ? undefined : api.versions.get(label)?.place;
    if (place === undefined || place === version.place) return [];
    return [linkFrame(placeUrl(plan, { path: place }), rel)];
  };
  const latest = isCurrent
    ? undefined
    : api.resolution.labels.find((label) => stages.get(label) === 'active');
  const before = version.predecessors.find((label) =>
    /^(?:active|deprecated)$/.test(stages.get(label) ?? ''),
  );
  const frames = [
    ...(latest === version.schedule.successor ? [] : frameTo(latest, 'latest-version')),
    ...frameTo(before, 'predecessor-version'),
  ];
  return { overrides, from: now, until, frames };
}
