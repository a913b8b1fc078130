// From what a request says of its version to one version, or to one of four refusals; `Accept` is negotiated on the way.
import { parseInstant } from '../notation.ts';
import { CARRIERS } from './carriers.ts';
import { compareLabels, isDate, parseRequested } from './label.ts';
import type {
  Claim,
  Evidence,
  Label,
  Moment,
  OpenResolution,
  Preference,
  Resolution,
  ResolutionRules,
  Verdict,
} from './resolution.ts';

/**
 * Claims that mean the same agree, others are ambiguous (VER-3). A version that is not released counts as unknown
 * (STAT-1), and the default serves only requests that name no version: an explicit unknown never gets it. A refusal
 * lists what is served (STAT-2): what has ended is no advice, though naming it resolves, to be told so. Where accounts
 * are pinned a request that names none stays open.
 */
export function resolveVersion(rules: ResolutionRules, evidence: Evidence, moment: Moment): Resolution {
  const [only, second] = evidence.claims;
  if (only !== undefined && second === undefined && evidence.preferences.length === 0)
    return judge(rules, only, moment);
  const torn = tornRange(rules, evidence, moment);
  if (torn !== undefined) return { kind: 'refused', refusal: { reason: 'version_ambiguous', claims: torn } };
  const accepted = negotiated(rules, evidence, moment);
  const claims = accepted.kind === 'open' ? evidence.claims : [...evidence.claims, accepted.claim];
  const [first] = claims;
  if (first === undefined) {
    if (accepted.kind === 'claim') return accepted.verdict;
    return rules.pin === undefined ? resolveOpen(rules, accepted, moment, undefined) : accepted;
  }
  let verdict = judge(rules, first, moment);
  for (let index = 1; index < claims.length; index += 1) {
    const claim = claims[index];
    if (claim === undefined) break;
    const other = judge(rules, claim, moment);
    if (!agree(first, verdict, claim, other)) {
      return { kind: 'refused', refusal: { reason: 'version_ambiguous', claims: [first, claim] } };
    }
    // `/api/1` beside `API-Version: 1` means the same, yet the path is malformed: agreement repairs nothing.
    if (verdict.kind === 'resolved') verdict = other.kind === 'refused' ? other : verdict;
  }
  return verdict;
}

/** Two claims of one range of `Accept` that differ: no negotiation could tell which of them it means. */
function tornRange(
  rules: ResolutionRules,
  { preferences }: Evidence,
  moment: Moment,
): readonly Claim[] | undefined {
  for (const { claim, also } of preferences) {
    if (claim === undefined || also.length === 0) continue;
    const verdict = judge(rules, claim, moment);
    const other = also.find((each) => !agree(claim, verdict, each, judge(rules, each, moment)));
    if (other !== undefined) return [claim, other];
  }
  return undefined;
}

/**
 * A list may pass over what has ended, unless that very version is named elsewhere and the list likes none better: the two
 * agree after the sunset as they did before, and the client is told of it (VER-3).
 */
function negotiated(rules: ResolutionRules, { claims, preferences }: Evidence, moment: Moment): Negotiated {
  const judged = (claim: Claim): Verdict => judge(rules, claim, moment);
  const [first] = claims;
  if (first === undefined) return negotiate(preferences, judged, moment.mayAnswer, undefined);
  const verdict = judged(first);
  const named = verdict.kind === 'resolved' ? verdict.label : undefined;
  const taken = negotiate(preferences, judged, moment.mayAnswer, named);
  if (taken.kind === 'open' || agree(first, verdict, taken.claim, taken.verdict)) return taken;
  return negotiate(preferences, judged, () => true, named);
}

/** The newest released version up to a day, `YYYY-MM-DD`; undefined before the first (VER-5). */
function floorOf(rules: ResolutionRules, day: string, moment: Moment): Label | undefined {
  return rules.labels.find((label) => isDate(label) && label <= day && moment.isReleased(label));
}

/**
 * Nothing insists on a version: the pin, then the default, unless `Accept` excludes them, then what the list would take
 * instead (VER-3). Where it takes nothing there is, that is said, and not that no version was named (NEG-8). A pin on a version that is not there any more is refused: no other takes its place unasked.
 */
export function resolveOpen(
  rules: ResolutionRules,
  { next, excluded }: OpenResolution,
  moment: Moment,
  pinned: Label | undefined,
): Verdict {
  const { isReleased, mayAnswer } = moment;
  const { default: label } = rules;
  const isExcluded = (each: Label) => excluded === 'all' || excluded.has(each);
  if (pinned !== undefined && !isExcluded(pinned)) {
    if (rules.labels.includes(pinned) && isReleased(pinned)) {
      return { kind: 'resolved', label: pinned, carrier: 'pin' };
    }
    const claim: Claim = { carrier: 'pin', value: pinned };
    return { kind: 'refused', refusal: { reason: 'version_unknown', claim, known: served(rules, moment) } };
  }
  if (label !== undefined && isReleased(label) && !isExcluded(label)) {
    return { kind: 'resolved', label, carrier: 'default' };
  }
  if (next !== undefined) return next.verdict;
  const known = served(rules, moment);
  if (excluded !== 'all' && excluded.size === 0)
    return { kind: 'refused', refusal: { reason: 'version_missing', known } };
  const left = rules.labels.find((each) => isReleased(each) && mayAnswer(each) && !isExcluded(each));
  if (left !== undefined) return { kind: 'resolved', label: left, carrier: 'accept' };
  return { kind: 'refused', refusal: { reason: 'version_unacceptable', known } };
}

function judge(rules: ResolutionRules, claim: Claim, moment: Moment): Verdict {
  const { value, carrier } = claim;
  // VER-1: inside a name the `v` is part of the version; a value of its own takes both spellings.
  const spelled = !isInName(claim) || value.startsWith('v') || isDate(value);
  if (spelled) {
    for (const label of rules.candidates(value)) {
      if (moment.isReleased(label)) return { kind: 'resolved', label, carrier };
    }
    const label =
      carrier === 'header' && rules.match === 'floor' ? pastFloor(rules, value, moment) : undefined;
    if (label !== undefined) return { kind: 'resolved', label, carrier };
  }
  const wellFormed = spelled && parseRequested(value) !== undefined;
  const known = served(rules, moment);
  return {
    kind: 'refused',
    refusal: { reason: wellFormed ? 'version_unknown' : 'version_malformed', claim, known },
  };
}

/** Nobody can have built against a day that has not come (VER-5). */
function pastFloor(rules: ResolutionRules, value: string, moment: Moment): Label | undefined {
  if (!isDate(value) || (parseInstant(value) ?? Number.POSITIVE_INFINITY) > moment.now) return undefined;
  return floorOf(rules, value, moment);
}

function isInName({ carrier, inName = false }: Claim): boolean {
  return inName || CARRIERS[carrier].inUrl === true;
}

/** Two claims agree when they lead to one version, or are the same text but for the `v`. */
function agree(a: Claim, left: Verdict, b: Claim, right: Verdict): boolean {
  if (left.kind === 'resolved' && right.kind === 'resolved') return left.label === right.label;
  return withoutPrefix(a.value) === withoutPrefix(b.value);
}

function withoutPrefix(value: string): string {
  return value.startsWith('v') ? value.slice(1) : value;
}

/** What a refusal advises (STAT-2). */
function served(rules: ResolutionRules, { isServed }: Moment): readonly Label[] {
  return rules.labels.filter(isServed);
}

export type Negotiated =
  /** The list insists on a version: the best known one, or its first when it knows none. */
  | { readonly kind: 'claim'; readonly claim: Claim; readonly verdict: Verdict }
  /** What the list likes best leaves the version open. */
  | OpenResolution;

type Weighed = NonNullable<OpenResolution['next']> & { readonly weight: number };

const NOTHING_SAID: Negotiated = { kind: 'open', next: undefined, excluded: new Set() };

/**
 * The highest weight wins; among equals a member that names a known version before one that leaves it open (it is the
 * more specific), and of two such the one that another carrier names (`named`), else the higher version. Unknown versions are passed over while another member fits, and so
 * are those that would be answered by their end alone: listing something else is consent to it.
 */
export function negotiate(
  preferences: readonly Preference[],
  judge: (claim: Claim) => Verdict,
  mayAnswer: (label: Label) => boolean,
  named: Label | undefined,
): Negotiated {
  if (preferences.length === 0) return NOTHING_SAID;
  const judged = preferences.map(({ claim, weight }) => ({ claim, weight, verdict: claim && judge(claim) }));
  const excluded = new Set(
    judged.flatMap(({ verdict, weight }) =>
      weight === 0 && verdict?.kind === 'resolved' ? [verdict.label] : [],
    ),
  );
  let next: Weighed | undefined;
  let ended: Weighed | undefined;
  let openWeight = 0;
  let refused: { readonly claim: Claim; readonly weight: number; readonly verdict: Verdict } | undefined;
  for (const { claim, weight, verdict } of judged) {
    if (weight === 0) continue;
    if (claim === undefined || verdict === undefined) openWeight = Math.max(openWeight, weight);
    else if (verdict.kind === 'refused') {
      if (refused === undefined || weight > refused.weight) refused = { claim, weight, verdict };
    } else if (!excluded.has(verdict.label)) {
      const found = { claim, weight, verdict };
      if (mayAnswer(verdict.label)) next = better(found, next, named);
      else ended = better(found, ended, named);
    }
  }
  if (next !== undefined && next.weight >= openWeight) return { kind: 'claim', ...next };
  const last = ended ?? refused;
  if (openWeight === 0 && last !== undefined) return { kind: 'claim', ...last };
  const isNothingWanted = openWeight === 0 && next === undefined;
  const excludesRest = preferences.some(({ isAny, weight }) => isAny && weight === 0);
  return { kind: 'open', next: next ?? ended, excluded: isNothingWanted && excludesRest ? 'all' : excluded };
}

function better(found: Weighed, than: Weighed | undefined, named: Label | undefined): Weighed {
  if (than === undefined || found.weight > than.weight) return found;
  if (found.weight < than.weight || than.verdict.label === named) return than;
  if (found.verdict.label === named) return found;
  return compareLabels(found.verdict.label, than.verdict.label) > 0 ? found : than;
}
