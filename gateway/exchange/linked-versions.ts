// Which other versions a response links at a moment: the successor, the newest and the predecessor.
import type { ApiPlan, GatewayPlan, RedirectTarget, VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { assess, type StageInput } from '../policy/lifecycle/assess.ts';
import { type LinkFrame, linkFrame, linkTarget } from '../policy/lifecycle/links.ts';
import { nextOverrideChange } from '../policy/lifecycle/override.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded } from '../policy/lifecycle/retirement.ts';
import type { Phase, Stage } from '../policy/lifecycle/schedule.ts';
import type { Label } from '../policy/versioning/resolution.ts';

export type ResourcePlace = Pick<RedirectTarget, 'path' | 'tail'>;
export type NextPlace = ResourcePlace & { readonly label: Label | undefined };

/** The links of a version, valid for every resource of it, for these overrides, and while from <= now < until. */
export interface LinkedVersions {
  readonly overrides: StageInput['overrides'];
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly successor: NextPlace | undefined;
  /** Undefined if it shares the place of this version or is the successor. */
  readonly latest: Label | undefined;
  readonly predecessor: Label | undefined;
  /** With a gap for the tail of a resource. */
  readonly frames: readonly LinkFrame[];
}

/** No other version can change this. */
export const NOTHING_LINKED: LinkedVersions = {
  overrides: [],
  from: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  successor: undefined,
  latest: undefined,
  predecessor: undefined,
  frames: [],
};

/** Cache per version. A version belongs to one plan, and an entry is valid for one set of overrides. */
const linked = new WeakMap<VersionRules, LinkedVersions>();

/** `phase`: of this version at this moment. */
export function linkedVersions(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  phase: Phase,
  moment: StageInput,
): LinkedVersions {
  const { now, overrides } = moment;
  const known = linked.get(version);
  if (known !== undefined && known.overrides === overrides && now >= known.from && now < known.until)
    return known;
  const made = linkVersions(plan, api, version, phase, { now, overrides });
  linked.set(version, made);
  return made;
}

/** The Link values of one resource, without the successor's. Undefined if there are none. */
export function relatedLinks({ frames }: LinkedVersions, tail: string): string | undefined {
  if (frames.length === 0) return undefined;
  const safe = linkTarget(tail);
  return frames.map(({ before, after }) => before + safe + after).join(', ');
}

/** The version that callers should move to. If the named successor has ended, the successor of that one. */
export function successorIn(api: ApiPlan, version: VersionRules, moment: StageInput): Label | undefined {
  return nextPlace(version, createStageReader(api, moment), new Set())?.label;
}

/** On the public authority, or on the one that the policy names (RET-3). */
export function placeUrl(plan: GatewayPlan, { path }: Pick<ResourcePlace, 'path'>): string {
  return /^https?:/.test(path) ? path : plan.public + path;
}

/** A redirect target must be served: it has not ended and is already released. */
export function isOpen(api: ApiPlan, { label }: RedirectTarget, moment: StageInput): boolean {
  return isServed(createStageReader(api, moment).at(label));
}

type StageReader = ReturnType<typeof createStageReader>;

/** Reads stages. `until`: the first instant at which a stage that was read changes. */
function createStageReader(api: ApiPlan, moment: StageInput) {
  const { now, overrides } = moment;
  let until = Number.POSITIVE_INFINITY;
  const stageOf = (rules: VersionRules): Stage => {
    const { phases, knownUntil = until } = assess(rules, moment);
    const phase = phaseAt(phases, now);
    until = Math.min(until, phase.until, knownUntil, nextOverrideChange(overrides, rules, now));
    return phase.stage;
  };
  const at = (label: Label): Stage | undefined => {
    const there = api.versions.get(label);
    return there && stageOf(there);
  };
  const announcesSuccessor = (label: Label): boolean => {
    const there = api.versions.get(label);
    return there !== undefined && assess(there, moment).schedule.successor !== undefined;
  };
  return { api, at, stageOf, announcesSuccessor, until: () => until };
}

function linkVersions(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  phase: Phase,
  moment: StageInput,
): LinkedVersions {
  const stages = createStageReader(api, moment);
  const successor = phase.linksSuccessor ? nextPlace(version, stages, new Set()) : undefined;
  const placed = (label: Label | undefined): label is Label =>
    label !== undefined && (api.versions.get(label)?.place ?? version.place) !== version.place;
  const newest = isCurrent(phase)
    ? undefined
    : api.resolution.labels.find((label) => stages.at(label) === 'active');
  const before = version.predecessors.find(
    (label) => isServed(stages.at(label)) && stages.announcesSuccessor(label),
  );
  const latest = placed(newest) && newest !== successor?.label ? newest : undefined;
  const predecessor = placed(before) ? before : undefined;
  // The response names the target of the redirect, so it changes when that target changes.
  if (hasEnded(phase)) readTargets(version, stages);
  const frames = [
    ...frameTo(plan, api, latest, 'latest-version'),
    ...frameTo(plan, api, predecessor, 'predecessor-version'),
  ];
  const until = Math.min(phase.until, stages.until());
  return { ...moment, from: moment.now, until, successor, latest, predecessor, frames };
}

function frameTo(
  plan: GatewayPlan,
  api: ApiPlan,
  label: Label | undefined,
  rel: string,
): readonly LinkFrame[] {
  const place = label === undefined ? undefined : api.versions.get(label)?.place;
  return place === undefined ? [] : [linkFrame(placeUrl(plan, { path: place }), rel)];
}

/** Any operation may answer at the target. */
function readTargets({ redirects }: VersionRules, stages: StageReader): void {
  for (const { label } of redirects) {
    stages.at(label);
    for (const operation of stages.api.versions.get(label)?.operations?.list ?? []) stages.stageOf(operation);
  }
}

/**
 * The named successor, else the first open target of its redirect. If the successor has ended, its own successor: a
 * successor is a served version (RFC 5829). Undefined before the release of the successor, and if the whole chain has
 * ended.
 */
function nextPlace(version: VersionRules, stages: StageReader, visited: Set<Label>): NextPlace | undefined {
  const { successorPath: path, successorTail: tail, schedule, redirects } = version;
  const label = schedule.successor;
  if (label === undefined) return undefined;
  if (path === undefined) return redirects.find(({ label: to }) => isServed(stages.at(to)));
  const there = label === version.label ? undefined : stages.api.versions.get(label);
  if (there === undefined) return { path, tail, label };
  const stage = stages.stageOf(there);
  if (stage === 'planned') return undefined;
  if (isServed(stage)) return { path, tail, label };
  if (visited.has(there.label)) return undefined;
  const next = nextPlace(there, stages, visited.add(there.label));
  return next && { ...next, tail: tail ?? next.tail };
}

function isServed(stage: Stage | undefined): boolean {
  return stage === undefined || stage === 'active' || stage === 'deprecated';
}

function isCurrent({ stage }: Phase): boolean {
  return stage === 'active' || stage === 'planned';
}
