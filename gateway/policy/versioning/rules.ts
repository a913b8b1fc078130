// Compiles the labels and carriers of one API into look-ups.
// Runs once per plan; what it returns is asked once or twice per request.
import { compareLabels, parseLabel } from './label.ts';
import type { Label, ResolutionRules } from './resolution.ts';

const NO_LABELS: readonly Label[] = [];

/**
 * A requested `N` or `vN` means the newest declared version of that major; a full semantic version must match exactly.
 * `header` is the name of the version header in any case; `labels` come in any order.
 */
export function createResolutionRules(options: {
  readonly labels: readonly Label[];
  readonly header: string | undefined;
  readonly default: Label | undefined;
}): ResolutionRules {
  const labels = options.labels.toSorted((a, b) => compareLabels(b, a));
  const byRequest = new Map<string, Label[]>();
  for (const label of labels) {
    for (const form of requestedForms(label)) {
      const candidates = byRequest.get(form);
      if (candidates === undefined) byRequest.set(form, [label]);
      else candidates.push(label);
    }
  }
  return {
    header: options.header?.toLowerCase(),
    default: options.default,
    labels,
    candidates: (requested) => byRequest.get(requested) ?? NO_LABELS,
  };
}

/** Every text that may mean this label in a request. */
function requestedForms(label: Label): readonly string[] {
  const parsed = parseLabel(label);
  if (parsed === undefined) return [];
  const major = [`${parsed.major}`, `v${parsed.major}`];
  return parsed.minor === undefined ? major : [...major, label, label.slice(1)];
}
