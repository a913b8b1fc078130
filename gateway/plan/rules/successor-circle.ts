// successor-circle: whoever follows successors arrives somewhere.
// RET-4. A version that is its own successor is the matter of successor-exists, a circle of redirects that of the redirect.
import { compareLabels } from '../../policy/versioning/label.ts';
import type { PolicyView } from '../check/views.ts';
import type { VersionParts } from '../grammar/policy-grammar.ts';
import { redirectOf } from '../redirects.ts';
import type { Rule } from './subject.ts';

export const successorCircle: Rule = ({ label, version, at, view }, report) => {
  const circle = circleFrom(label, view);
  if (circle === undefined || circle.length < 2) return;
  // Said once, where the way leads back to what is older.
  if (circle.some((other) => compareLabels(other, label) > 0)) return;
  const named = circle.some((each) => view.versions.get(each)?.successor !== undefined);
  if (!named) return;
  const place = version.successor === undefined ? ['after', 'redirect'] : ['successor'];
  report([...at, ...place], {
    rule: 'successor-circle',
    message: `successors lead in a circle: ${[...circle, label].join(' -> ')}`,
    hint: `name a version that is newer than ${label}, or none`,
  });
};

/** The versions passed on the way from one back to itself; undefined where none leads there. */
function circleFrom(label: string, { versions }: PolicyView): readonly string[] | undefined {
  const passed = [label];
  for (let at = next(versions.get(label)); at !== undefined; at = next(versions.get(at))) {
    if (at === label) return passed;
    if (passed.includes(at)) return undefined;
    passed.push(at);
  }
  return undefined;
}

/** As the plan has it: where a version redirects to is where to go, unless another is named (RET-8). */
function next(version: VersionParts | undefined): string | undefined {
  return version?.successor ?? redirectOf(version);
}
