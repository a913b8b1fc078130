// Compiles the labels and carriers of one API into look-ups.
import { type CarrierNames, namesBy } from './carriers.ts';
import { compareLabels, parseLabel } from './label.ts';
import { ignoredNames } from './query.ts';
import { claimsReader } from './readers.ts';
import type { DateMatch, Label, MediaTemplate, PathInTail, PinRule, ResolutionRules } from './resolution.ts';

/** The header's name in any case. */
export interface CarrierOptions extends CarrierNames {
  readonly labels: readonly Label[];
  readonly default: Label | undefined;
  /** Parameters that resemble the query parameter but are unrelated. `*` stands for any text. */
  readonly ignore?: readonly string[] | undefined;
  readonly pathInTail?: PathInTail | undefined;
  readonly mediaTypes?: readonly MediaTemplate[];
  readonly match?: DateMatch | undefined;
  readonly pin?: PinRule | undefined;
}

const NO_LABELS: readonly Label[] = [];

/**
 * A requested `N` or `vN` means the newest declared version of that major. A semantic version or a date must match exactly.
 */
export function createResolutionRules(options: CarrierOptions): ResolutionRules {
  const labels = options.labels.toSorted((a, b) => compareLabels(b, a));
  const byRequest = new Map<string, Label[]>();
  for (const label of labels) {
    for (const form of requestedForms(label)) {
      const candidates = byRequest.get(form);
      if (candidates === undefined) byRequest.set(form, [label]);
      else candidates.push(label);
    }
  }
  const carriers = {
    ...namesBy((key) => (key === 'header' ? options.header?.toLowerCase() : options[key])),
    isIgnored: ignoredNames(options.ignore ?? []),
    pathInTail: options.pathInTail,
    mediaTypes: options.mediaTypes ?? [],
  };
  return {
    ...carriers,
    match: options.match ?? 'exact',
    pin: options.pin,
    default: options.default,
    labels,
    readClaims: claimsReader(carriers),
    candidates: (requested) => byRequest.get(requested) ?? NO_LABELS,
  };
}

function requestedForms(label: Label): readonly string[] {
  const parsed = parseLabel(label);
  if (parsed === undefined) return [];
  if (parsed.kind === 'date') return [label];
  const major = [`${parsed.major}`, `v${parsed.major}`];
  return parsed.minor === undefined ? major : [...major, label, label.slice(1)];
}
