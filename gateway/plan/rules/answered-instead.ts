// Versions that are not declared any more and whose requests another one answers: vN means the newest of its major.
// Part of past.ts: what was told to the callers of the one holds for the other.
import { parseLabel } from '../../policy/versioning/label.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';

export interface AnsweredInstead {
  readonly label: Label;
  readonly by: Label;
  /** Even requests for the full name get it. */
  readonly wholly: boolean;
}

export function answeredInstead(
  past: readonly Label[],
  present: readonly Label[],
): readonly AnsweredInstead[] {
  const [then, now] = [answersTo(past), answersTo(present)];
  return past
    .filter((label) => !present.includes(label))
    .flatMap((label) => {
      const parsed = parseLabel(label);
      if (parsed?.kind !== 'number') return [];
      const short = `v${parsed.major}`;
      const by = now(short);
      return by === undefined || then(short) !== label ? [] : [{ label, by, wholly: label === short }];
    });
}

function answersTo(labels: readonly Label[]): (requested: string) => Label | undefined {
  const { candidates } = createResolutionRules({ labels, header: undefined, default: undefined });
  return (requested) => candidates(requested)[0];
}
