// Resolves the claims and preferences of a request to one version or to a refusal.
import { parseInstant } from '../notation.ts';
import { CARRIERS } from './carriers.ts';
import { compareLabels, isDate, parseRequested } from './label.ts';
import type {
  Availability,
  Claim,
  Evidence,
  Label,
  OpenResolution,
  Preference,
  Resolution,
  ResolutionRules,
  Verdict,
} from './resolution.ts';

/**
 * Claims agree if they mean the same version, otherwise they are ambiguous (VER-3). An unreleased version counts as unknown
 * (STAT-1). Only requests without a version get the default, never one with an unknown version. A refusal lists served
 * versions only (STAT-2), although an ended version resolves, so that its refusal explains the end. With pins, a request
 * without a version stays open.
 */
export function resolveVersion(rules: ResolutionRules, evidence: Evidence, moment: Availability): Resolution {
  const [only, second] = evidence.claims;
  if (only !== undefined && second === undefined && evidence.preferences.length === 0)
    return judge(rules, only, moment);
  const clash = conflictingRange(rules, evidence, moment);
  if (clash !== undefined)
    return { kind: 'refused', refusal: { reason: 'version_ambiguous', claims: clash } };
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
    // `/api/1` with `API-Version: 1` agrees, but the path is malformed: agreement does not repair it.
    if (verdict.kind === 'resolved') verdict = other.kind === 'refused' ? other : verdict;
  }
  return verdict;
}

/** Two claims of one range of `Accept` that differ. Negotiation cannot decide between them. */
function conflictingRange(
  rules: ResolutionRules,
  { preferences }: Evidence,
  moment: Availability,
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
 * Negotiation skips ended versions. Exception: another carrier names the ended version, and no other member has a higher
 * weight. Then both still agree after the sunset, and the client gets the refusal of that version (VER-3).
 */
function negotiated(rules: ResolutionRules, evidence: Evidence, moment: Availability): Negotiated {
  const { claims, preferences } = evidence;
  const judged = (claim: Claim): Verdict => judge(rules, claim, moment);
  const [first] = claims;
  if (first === undefined) return negotiate(preferences, judged, moment.mayAnswer, undefined);
  const verdict = judged(first);
  const named = verdict.kind === 'resolved' ? verdict.label : undefined;
  const taken = negotiate(preferences, judged, moment.mayAnswer, named);
  if (taken.kind === 'open' || agree(first, verdict, taken.claim, taken.verdict)) return taken;
  return negotiate(preferences, judged, () => true, named);
}

/** The newest version released up to the day `YYYY-MM-DD` (VER-5). */
function floorOf(rules: ResolutionRules, day: string, moment: Availability): Label | undefined {
  return rules.labels.find((label) => isDate(label) && label <= day && moment.isReleased(label));
}

/**
 * No claim names a version. First the pin decides, then the default, unless `Accept` excludes them, then the best version
 * that `Accept` would take (VER-3). If `Accept` excludes every version, the refusal is unacceptable instead of missing
 * (NEG-8). A pin on a version that no longer exists is refused, never replaced without the account's request.
 */
export function resolveOpen(
  rules: ResolutionRules,
  { next, excluded }: OpenResolution,
  moment: Availability,
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

function judge(rules: ResolutionRules, claim: Claim, moment: Availability): Verdict {
  const { value, carrier } = claim;
  // VER-1: inside a name the `v` is part of the version. Other carriers accept both spellings.
  const spelled = !isInName(claim) || value.startsWith('v') || isDate(value);
  if (spelled) {
    for (const label of rules.candidates(value)) {
      if (moment.isReleased(label)) return { kind: 'resolved', label, carrier };
    }
    const label =
      carrier === 'header' && rules.match === 'floor' ? floorNow(rules, value, moment) : undefined;
    if (label !== undefined) return { kind: 'resolved', label, carrier };
  }
  const wellFormed = spelled && parseRequested(value) !== undefined;
  const known = served(rules, moment);
  return {
    kind: 'refused',
    refusal: { reason: wellFormed ? 'version_unknown' : 'version_malformed', claim, known },
  };
}

/** VER-5: no client can be built for a future day. */
function floorNow(rules: ResolutionRules, value: string, moment: Availability): Label | undefined {
  if (!isDate(value) || (parseInstant(value) ?? Number.POSITIVE_INFINITY) > moment.now) return undefined;
  return floorOf(rules, value, moment);
}

function isInName({ carrier, inName = false }: Claim): boolean {
  return inName || CARRIERS[carrier].inUrl === true;
}

/** Claims agree if they resolve to one version, or are the same text except for the `v`. */
function agree(a: Claim, left: Verdict, b: Claim, right: Verdict): boolean {
  if (left.kind === 'resolved' && right.kind === 'resolved') return left.label === right.label;
  return withoutPrefix(a.value) === withoutPrefix(b.value);
}

function withoutPrefix(value: string): string {
  return value.startsWith('v') ? value.slice(1) : value;
}

function served(rules: ResolutionRules, { isServed }: Availability): readonly Label[] {
  return rules.labels.filter(isServed);
}

export type Negotiated =
  /** `Accept` requires a version: the best known one, or the first if none is known. */
  | { readonly kind: 'claim'; readonly claim: Claim; readonly verdict: Verdict }
  /** The member with the highest weight names no version. */
  | OpenResolution;

type Choice = NonNullable<OpenResolution['next']> & { readonly weight: number };

const NO_PREFERENCE: Negotiated = { kind: 'open', next: undefined, excluded: new Set() };

/**
 * The highest weight wins. Between equal weights, a known version wins over a member without a version, because it is more
 * specific. Between two known versions, the one that another carrier names (`named`) wins, then the higher one. Unknown and
 * ended versions are skipped if another member fits: listing an alternative is consent to it.
 */
export function negotiate(
  preferences: readonly Preference[],
  judge: (claim: Claim) => Verdict,
  mayAnswer: (label: Label) => boolean,
  named: Label | undefined,
): Negotiated {
  if (preferences.length === 0) return NO_PREFERENCE;
  const judged = preferences.map(({ claim, weight }) => ({ claim, weight, verdict: claim && judge(claim) }));
  const excluded = new Set(
    judged.flatMap(({ verdict, weight }) =>
      weight === 0 && verdict?.kind === 'resolved' ? [verdict.label] : [],
    ),
  );
  let next: Choice | undefined;
  let ended: Choice | undefined;
  let openWeight = 0;
  let refused: { readonly claim: Claim; readonly weight: number; readonly verdict: Verdict } | undefined;
  for (const { claim, weight, verdict } of judged) {
    if (weight === 0) continue;
    if (claim === undefined || verdict === undefined) openWeight = Math.max(openWeight, weight);
    else if (verdict.kind === 'refused') {
      if (refused === undefined || weight > refused.weight) refused = { claim, weight, verdict };
    } else if (!excluded.has(verdict.label)) {
      const found = { claim, weight, verdict };
      if (mayAnswer(verdict.label)) next = preferred(found, next, named);
      else ended = preferred(found, ended, named);
    }
  }
  if (next !== undefined && next.weight >= openWeight) return { kind: 'claim', ...next };
  const last = ended ?? refused;
  if (openWeight === 0 && last !== undefined) return { kind: 'claim', ...last };
  const isNothingWanted = openWeight === 0 && next === undefined;
  const excludesRest = preferences.some(({ isAny, weight }) => isAny && weight === 0);
  return { kind: 'open', next: next ?? ended, excluded: isNothingWanted && excludesRest ? 'all' : excluded };
}

function preferred(found: Choice, than: Choice | undefined, named: Label | undefined): Choice {
  if (than === undefined || found.weight > than.weight) return found;
  if (found.weight < than.weight || than.verdict.label === named) return than;
  if (found.verdict.label === named) return found;
  return compareLabels(found.verdict.label, than.verdict.label) > 0 ? found : than;
}
