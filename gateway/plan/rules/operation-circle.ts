// successor-circle, of operations: whoever follows their successors, from one to the next, arrives somewhere.
// A circle of versions alone is said of those; no request is redirected in one (RET-4), but every link in it misleads.
import {
  type OperationTemplate,
  parseOperation,
  spellOperation,
} from '../../policy/lifecycle/operation-template.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import type { PolicyView } from '../check/views.ts';
import { redirectOf } from '../redirects.ts';
import { answering, tailOf } from './answering-operation.ts';
import type { Rule } from './subject.ts';

/** A request, by the template it was made by, and the version it is made of. */
interface Asked {
  readonly label: string;
  readonly template: OperationTemplate;
}

export const operationCircle: Rule = ({ label, version, at, view }, report) => {
  for (const [name, { successor }] of Object.entries(version.operations ?? {})) {
    const parsed = parseOperation(name);
    if (successor === undefined || parsed.kind === 'malformed') continue;
    const start = { label, template: parsed.template };
    const circle = circleFrom(start, view);
    // One that is its own successor is said by the check of operations.
    if (circle === undefined || circle.length < 2) continue;
    const others = circle.slice(1).filter((each) => isNamed(each, view));
    if (others.some((each) => comesAfter(each, start, view))) continue;
    const way = [...circle, start].map((each) => spell(each, label));
    report([...at, 'operations', name, 'successor'], {
      rule: 'successor-circle',
      message: `successors lead in a circle: ${way.join(' -> ')}`,
      hint: 'name an operation that stays, or none',
    });
  }
};

/** What is passed on the way from one back to itself; undefined where no way leads there. */
function circleFrom(start: Asked, view: PolicyView): readonly Asked[] | undefined {
  const passed = [start];
  const seen = new Set([keyOf(start)]);
  for (let at = next(start, view); at !== undefined; at = next(at, view)) {
    if (keyOf(at) === keyOf(start)) return passed;
    if (seen.has(keyOf(at))) return undefined;
    seen.add(keyOf(at));
    passed.push(at);
  }
  return undefined;
}

/** An operation without a successor of its own goes where its version does. */
function next({ label, template }: Asked, { versions }: PolicyView): Asked | undefined {
  const version = versions.get(label);
  const own = answering(version?.operations, template)?.rules.successor;
  if (own !== undefined) return { label: own.label ?? label, template: own.template ?? template };
  const to = version?.successor ?? redirectOf(version);
  return to === undefined ? undefined : { label: to, template };
}

/** Whether a finding about it would have a line of its own. */
function isNamed(asked: Asked, { versions }: PolicyView): boolean {
  const there = answering(versions.get(asked.label)?.operations, asked.template);
  return there?.rules.successor !== undefined && tailOf(there.template) === tailOf(asked.template);
}

/** A circle is said once, of the last in its newest version. */
function comesAfter(other: Asked, start: Asked, { versions }: PolicyView): boolean {
  if (other.label !== start.label) return compareLabels(other.label, start.label) > 0;
  const keys = Object.keys(versions.get(start.label)?.operations ?? {});
  const placeOf = ({ template }: Asked) =>
    keys.indexOf(answering(versions.get(start.label)?.operations, template)?.key ?? '');
  return placeOf(other) > placeOf(start);
}

function keyOf({ label, template }: Asked): string {
  return `${label} ${template.method} ${tailOf(template)}`;
}

function spell({ label, template }: Asked, here: string): string {
  return `${label === here ? '' : `${label} `}${spellOperation(template)}`;
}
