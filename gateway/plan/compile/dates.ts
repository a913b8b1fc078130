// The rules of a version or an operation before each later announcement of a date.
import type { EpochMs } from '../../policy/contract.ts';
import type { VersionRules } from '../plan.ts';

/** `instants`: of the announcements, in time order; `datedAt`: the part of the rules that is known by an instant. */
export function withAnnouncements(
  rules: VersionRules,
  instants: readonly EpochMs[],
  datedAt: (known: EpochMs) => Partial<VersionRules>,
): VersionRules {
  if (instants.length === 0) return rules;
  const earlier = instants.map((knownUntil, index) => ({
    ...rules,
    ...datedAt(instants[index - 1] ?? Number.NEGATIVE_INFINITY),
    knownUntil,
  }));
  return { ...rules, earlier };
}
