// Which other versions an answer links, as the API stands at a moment: the successor, the newest, the one before.
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

/** What holds for every resource of a version: for these overrides, and from <= now < until. */
export interface LinkedVersions {
  readonly overrides: StageInput['overrides'];
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly successor: NextPlace | undefined;
  /** Only where it has a place of its own and is not the successor. */
  readonly latest: Label | undefined;
  readonly predecessor: Label | undefined;
  /** Links to the latter two, the tail of a resource left open. */
  readonly frames: readonly LinkFrame[];
}

/** Of what is current and follows on nothing: no other version can change that. */
export const NOTHING_LINKED: LinkedVersions = {
  overrides: [],
  from: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  successor: undefined,
  latest: undefined,
  predecessor: undefined,
  frames: [],
};

/** A version belongs to one plan, and within it to one pause. */
const linked = new WeakMap<VersionRules, LinkedVersions>();

/**
 * The successor of what is deprecated or gone; `latest` there too, where that is another one; `predecessor` for as long
 * as that is served. `phase`: the version's own at this moment.
 */
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

/** The links beside that to the successor, for one resource; undefined where there are none. Only its tail is put in. */
export function relatedLinks({ frames }: LinkedVersions, tail: string): string | undefined {
  if (frames.length === 0) return undefined;
  const safe = linkTarget(tail);
  return frames.map(({ before, after }) => before + safe + after).join(', ');
}

/** The version that callers are led to: what is named, or where that has ended, what follows on it. */
export function successorIn(api: ApiPlan, version: VersionRules, moment: StageInput): Label | undefined {
  return nextPlace(version, createStageReader(api, moment), new Set())?.label;
}

/** On our own authority, or on the one that the policy gives the version (RET-3). */
export function placeUrl(plan: GatewayPlan, { path }: Pick<ResourcePlace, 'path'>): string {
  return /^https?:/.test(path) ? path : plan.public + path;
}

/** A redirect leads to what is served: neither to what has ended nor to what is still unknown. */
export function isOpen(api: ApiPlan, { label }: RedirectTarget, moment: StageInput): boolean {
  return isServed(createStageReader(api, moment).at(label));
}

type StageReader = ReturnType<typeof createStageReader>;

/** Looks at versions of an API, and remembers when the first of what was seen changes. */
function createStageReader(api: ApiPlan, moment: StageInput) {
  const { now, overrides } = moment;
  let until = Number.POSITIVE_INFINITY;
  const into = (rules: VersionRules): Stage => {
    const { phases, knownUntil = until } = assess(rules, moment);
    const phase = phaseAt(phases, now);
    until = Math.min(until, phase.until, knownUntil, nextOverrideChange(overrides, rules, now));
    return phase.stage;
  };
  /** Undefined for a label that the API does not have. */
  const at = (label: Label): Stage | undefined => {
    const there = api.versions.get(label);
    return there && into(there);
  };
  /** Whether callers of that version know what follows on it. */
  const leadsOn = (label: Label): boolean => {
    const there = api.versions.get(label);
    return there !== undefined && assess(there, moment).schedule.successor !== undefined;
  };
  return { api, at, into, leadsOn, until: () => until };
}

function linkVersions(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  phase: Phase,
  moment: StageInput,
): LinkedVersions {
  const look = createStageReader(api, moment);
  const successor = phase.linksSuccessor ? nextPlace(version, look, new Set()) : undefined;
  const placed = (label: Label | undefined): label is Label =>
    label !== undefined && (api.versions.get(label)?.place ?? version.place) !== version.place;
  const newest = isCurrent(phase)
    ? undefined
    : api.resolution.labels.find((label) => look.at(label) === 'active');
  const before = version.predecessors.find((label) => isServed(look.at(label)) && look.leadsOn(label));
  const latest = placed(newest) && newest !== successor?.label ? newest : undefined;
  const predecessor = placed(before) ? before : undefined;
  // The answer names the target of the redirect, so it changes with that target.
  if (hasEnded(phase)) lookAtTargets(version, look);
  const frames = [
    ...frameTo(plan, api, latest, 'latest-version'),
    ...frameTo(plan, api, predecessor, 'predecessor-version'),
  ];
  const until = Math.min(phase.until, look.until());
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

/** Any operation may be the one that would answer there. */
function lookAtTargets({ redirects }: VersionRules, look: StageReader): void {
  for (const { label } of redirects) {
    look.at(label);
    for (const operation of look.api.versions.get(label)?.operations?.list ?? []) look.into(operation);
  }
}

/**
 * The version named as successor, else the first open target of its redirect; where what is named has ended itself, the
 * one that follows on that: a successor is served (RFC 5829). Undefined before its release, and where everything has
 * ended.
 */
function nextPlace(version: VersionRules, look: StageReader, passed: Set<Label>): NextPlace | undefined {
  const { successorPath: path, successorTail: tail, schedule, redirects } = version;
  const label = schedule.successor;
  // Not announced yet.
  if (label === undefined) return undefined;
  if (path === undefined) return redirects.find(({ label: to }) => isServed(look.at(to)));
  const there = label === version.label ? undefined : look.api.versions.get(label);
  if (there === undefined) return { path, tail, label };
  const stage = look.into(there);
  if (stage === 'planned') return undefined;
  if (isServed(stage)) return { path, tail, label };
  if (passed.has(there.label)) return undefined;
  const next = nextPlace(there, look, passed.add(there.label));
  return next && { ...next, tail: tail ?? next.tail };
}

function isServed(stage: Stage | undefined): boolean {
  return stage === undefined || stage === 'active' || stage === 'deprecated';
}

function isCurrent({ stage }: Phase): boolean {
  return stage === 'active' || stage === 'planned';
}
