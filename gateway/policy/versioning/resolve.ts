// From what the carriers of a request claim to one version, or to one of four refusals (standards §3.4).
// Asked once per request, after the route match and before anything that depends on the version.
import { parseRequested } from './label.ts';
import {
  type Claim,
  type Label,
  type Resolution,
  type ResolutionRules,
  type Standing,
  UNVERSIONED,
} from './resolution.ts';

const UNVERSIONED_RESOLUTION: Resolution = { kind: 'resolved', label: UNVERSIONED, carrier: 'unversioned' };

/**
 * Claims that mean the same agree, others are ambiguous (VER-3). A version that is not released counts as unknown
 * (STAT-1), and the default serves only requests that name no version: an explicit unknown never gets it. A refusal
 * lists what is served (STAT-2): what has ended is no advice, though naming it resolves, to be told so.
 */
export function resolveVersion(
  rules: ResolutionRules,
  claims: readonly Claim[],
  standing: Standing,
): Resolution {
  if (rules.labels[0] === UNVERSIONED) return UNVERSIONED_RESOLUTION;
  const [first] = claims;
  if (first === undefined) return resolveDefault(rules, standing);

  let verdict = judge(rules, first, standing);
  for (let index = 1; index < claims.length; index += 1) {
    const claim = claims[index];
    if (claim === undefined) break;
    const other = judge(rules, claim, standing);
    if (!agree(first, verdict, claim, other)) {
      return { kind: 'refused', refusal: { reason: 'version_ambiguous', claims: [first, claim] } };
    }
    // `/api/1` beside `API-Version: 1` means the same, yet the path is malformed: agreement repairs nothing.
    if (verdict.kind === 'resolved') verdict = other.kind === 'refused' ? other : verdict;
  }
  return verdict;
}

function resolveDefault(rules: ResolutionRules, standing: Standing): Resolution {
  if (rules.default !== undefined && standing.isReleased(rules.default)) {
    return { kind: 'resolved', label: rules.default, carrier: 'default' };
  }
  return { kind: 'refused', refusal: { reason: 'version_missing', known: served(rules, standing) } };
}

function judge(rules: ResolutionRules, claim: Claim, standing: Standing): Resolution {
  // VER-1: in a path the `v` is part of the version; a header takes both spellings.
  const spelled = claim.carrier !== 'path' || claim.value.startsWith('v');
  if (spelled) {
    for (const label of rules.candidates(claim.value)) {
      if (standing.isReleased(label)) return { kind: 'resolved', label, carrier: claim.carrier };
    }
  }
  const wellFormed = spelled && parseRequested(claim.value) !== undefined;
  const known = served(rules, standing);
  return {
    kind: 'refused',
    refusal: { reason: wellFormed ? 'version_unknown' : 'version_malformed', claim, known },
  };
}

function served({ labels }: ResolutionRules, { isServed }: Standing): readonly Label[] {
  return labels.filter(isServed);
}

/** Two claims agree when they lead to one version, or are the same text but for the `v`. */
function agree(a: Claim, left: Resolution, b: Claim, right: Resolution): boolean {
  if (left.kind === 'resolved' && right.kind === 'resolved') return left.label === right.label;
  return withoutPrefix(a.value) === withoutPrefix(b.value);
}

function withoutPrefix(value: string): string {
  return value.startsWith('v') ? value.slice(1) : value;
}
