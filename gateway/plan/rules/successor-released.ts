// successor-released: on the day a version is deprecated its callers have somewhere to go.
// Specification, States and transitions. A redirect may lead further, to what is released by the time it begins.
import { dayOf } from '../../policy/notation.ts';
import { effectiveSunset } from '../redirects.ts';
import { dayFrom } from './calendar.ts';
import { namedSuccessor, type Rule, redirectTarget, sunsetPlace } from './subject.ts';

export const successorReleased: Rule = (subject, report) => {
  const { label, version, at } = subject;
  const { deprecated } = version;
  const successor = namedSuccessor(subject);
  const available = successor?.version.released;
  if (
    successor !== undefined &&
    deprecated !== undefined &&
    available !== undefined &&
    available > deprecated
  ) {
    report([...at, 'deprecated'], {
      rule: 'successor-released',
      message: `${label} is deprecated before its successor ${successor.label} is released (${dayOf(available)})`,
      hint: `deprecated ${dayFrom(available)} or later`,
    });
  }
  const target = redirectTarget(subject);
  const released = target?.version.released;
  const ends = effectiveSunset(version);
  if (target === undefined || ends === undefined || released === undefined || released <= ends) return;
  report(sunsetPlace(subject), {
    rule: 'successor-released',
    severity: 'error',
    message: `${label} ends before ${target.label}, where it redirects to, is released (${dayOf(released)})`,
    hint: `sunset ${dayFrom(released)} or later`,
  });
};
