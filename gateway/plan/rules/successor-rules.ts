// Rules about the successors of versions: they exist, form no cycle, are released in time and outlive the version.
import { dayOf } from '../../policy/notation.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import { RULES } from '../../sections/rules/grammar.ts';
import { dayFrom, monthsAfter, orLater } from '../../sections/schedule/calendar.ts';
import {
  effectiveSunset,
  type RedirectHop,
  redirectChain,
  successorOf,
} from '../../sections/schedule/redirects.ts';
import { type PolicyView, type Report, reportUnknownName, type VersionCheck } from '../../sections/view.ts';
import { wholeApiParts } from '../versions.ts';
import { namedSuccessor, noticeMonths, redirectTarget, sunsetPlace } from './subject.ts';

/** The successor is another version of this file. */
export const successorExists: VersionCheck = ({ label, version, at, view }, report) => {
  const { successor } = version;
  if (successor === undefined) return;
  const path = [...at, 'successor'];
  if (successor === label) {
    report(path, { rule: 'successor-exists', message: 'a version cannot be its own successor' });
  } else if (!view.labels.includes(successor)) {
    const named: Report = (place, finding) => report(place, { ...finding, rule: 'successor-exists' });
    reportUnknownName(path, 'version', successor, view.labels, view, named);
  }
};

/** RET-4. Another finding reports redirect cycles, and successor-exists a version that names itself. */
export const successorCycle: VersionCheck = ({ label, version, at, view }, report) => {
  const cycle = cycleFrom(label, view);
  if (cycle === undefined || cycle.length < 2) return;
  // Reported once, for the newest version of the cycle.
  if (cycle.some((other) => compareLabels(other, label) > 0)) return;
  const named = cycle.some((each) => view.versions.get(each)?.successor !== undefined);
  if (!named) return;
  const place = version.successor === undefined ? ['after', 'redirect'] : ['successor'];
  report([...at, ...place], {
    rule: 'successor-circle',
    message: `successors form a cycle: ${[...cycle, label].join(' -> ')}`,
    hint: `name a version that is newer than ${label}, or remove the successor`,
  });
};

/** The successor is released by the deprecation, and a redirect target by the sunset. A late redirect target is an error by default. */
export const successorReleased: VersionCheck = (subject, report) => {
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
    severity: RULES['successor-released'].exception.severity,
    message: `${label} ends before its redirect target ${target.label} is released (${dayOf(released)})`,
    hint: `sunset ${dayFrom(released)} or later`,
  });
};

/** RET-4: a redirect to a retired version is an error. A successor that ends within a notice period is a warning. */
export const successorOutlives: VersionCheck = (subject, report) => {
  const { label, version, view } = subject;
  const target = redirectTarget(subject);
  const successor = target ?? namedSuccessor(subject);
  const ends = effectiveSunset(version);
  if (successor === undefined || ends === undefined) return;
  // If the whole API ends, no successor leads further. A redirect would still lead to a retired version.
  if (target === undefined && ends === effectiveSunset(wholeApiParts(view.parts))) return;
  const first = {
    label: successor.label,
    until: effectiveSunset(successor.version) ?? Number.POSITIVE_INFINITY,
  };
  const chain = redirectChain(successor.label, view.versions);
  if (chain.kind === 'cycle') return;
  const last = lastToEnd(first, chain.hops);
  const wanted = monthsAfter(ends, noticeMonths(view));
  if (last.until >= wanted) return;
  const hasEnded = last.until <= ends;
  const reach = target === undefined ? 'its successor' : 'the redirect';
  report(successor.place, {
    rule: 'successor-outlives',
    ...(hasEnded && target !== undefined && { severity: RULES['successor-outlives'].exception.severity }),
    message: hasEnded
      ? `${label} ends on ${dayOf(ends)}, and ${last.label} has ended by then`
      : `${label} ends on ${dayOf(ends)}, and ${reach} ends on ${dayOf(last.until)} with ${last.label}`,
    hint: orLater(`sunset of ${last.label}`, wanted, `remove the sunset of ${last.label}`),
  });
};

/** The versions on the cycle from `label` back to itself. Undefined if there is none. */
function cycleFrom(label: string, { versions }: PolicyView): readonly string[] | undefined {
  const passed = [label];
  for (let at = successorOf(versions.get(label)); at !== undefined; at = successorOf(versions.get(at))) {
    if (at === label) return passed;
    if (passed.includes(at)) return undefined;
    passed.push(at);
  }
  return undefined;
}

/** With a chain of redirects, callers are served as long as any version of the chain is. */
function lastToEnd(first: RedirectHop, hops: readonly RedirectHop[]): RedirectHop {
  return hops.reduce((last, hop) => (hop.until > last.until ? hop : last), first);
}
