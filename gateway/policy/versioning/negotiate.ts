// From the preferences of `Accept` to one version, or to none (RFC 9110 §12.5.1, NEG-2 to NEG-4).
// Part of resolution; what the versions mean is told by the judge it is given.
import { compareLabels } from './label.ts';
import type { Claim, Label, OpenResolution, Preference, Verdict } from './resolution.ts';

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
