// parallel-versions: while a version is deprecated, another is served beside it the whole time.
// Specification, Versioning 3. Where a successor is named, the rules about successors say it more exactly.
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf } from '../../policy/notation.ts';
import { effectiveSunset } from '../redirects.ts';
import { namedSuccessor, type Rule, type Subject } from './subject.ts';

export const parallelVersions: Rule = (subject, report) => {
  const { label, version, at, view } = subject;
  const { deprecated } = version;
  if (deprecated === undefined || namedSuccessor(subject) !== undefined) return;
  // What goes with the whole API leads to no other version of it.
  if (deprecated === view.parts.deprecated) return;
  const end = effectiveSunset(version) ?? Number.POSITIVE_INFINITY;
  const alone = firstAlone(subject, deprecated, end);
  if (alone === undefined) return;
  report([...at, 'deprecated'], {
    rule: 'parallel-versions',
    message: `from ${dayOf(alone)} on no other version is served beside ${label}, which is deprecated`,
    hint: `release a version by ${dayOf(alone)} and name it as successor`,
  });
};

/** The first instant from `from` up to `until` at which no other version is served. */
function firstAlone({ label, view }: Subject, from: EpochMs, until: EpochMs): EpochMs | undefined {
  const others = [...view.versions]
    .filter(([other, { released }]) => other !== label && released !== undefined)
    .map(([, version]) => ({ from: version.released ?? 0, until: effectiveSunset(version) ?? Infinity }))
    .sort((a, b) => a.from - b.from);
  let covered = from;
  for (const other of others) if (other.from <= covered) covered = Math.max(covered, other.until);
  return covered < until ? covered : undefined;
}
