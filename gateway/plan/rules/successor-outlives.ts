// successor-outlives: whoever follows a version to its successor is not turned away there at once.
// RET-4: a redirect to what has ended is an error; a successor that ends within a notice period after is a warning.
import { dayOf } from '../../policy/notation.ts';
import { effectiveSunset, type RedirectHop, redirectChain } from '../redirects.ts';
import { wholeApiParts } from '../versions.ts';
import { monthsAfter, orLater } from './calendar.ts';
import { namedSuccessor, noticeMonths, type Rule, redirectTarget } from './subject.ts';

export const successorOutlives: Rule = (subject, report) => {
  const { label, version, view } = subject;
  const target = redirectTarget(subject);
  const successor = target ?? namedSuccessor(subject);
  const ends = effectiveSunset(version);
  if (successor === undefined || ends === undefined) return;
  // What ends with the whole API leads no further by any successor; a redirect would all the same lead to what is gone.
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
  const gone = last.until <= ends;
  const reach = target === undefined ? 'its successor' : 'the redirect';
  report(successor.place, {
    rule: 'successor-outlives',
    severity: gone && target !== undefined ? 'error' : 'warning',
    message: gone
      ? `${label} ends on ${dayOf(ends)}, and ${last.label} has ended by then`
      : `${label} ends on ${dayOf(ends)}, and ${reach} leads nowhere from ${dayOf(last.until)} on, when ${last.label} ends`,
    hint: orLater(`sunset of ${last.label}`, wanted, `take the sunset of ${last.label} out`),
  });
};

/** Where a version redirects on, its callers are served for as long as any version of the chain is. */
function lastToEnd(first: RedirectHop, hops: readonly RedirectHop[]): RedirectHop {
  return hops.reduce((last, hop) => (hop.until > last.until ? hop : last), first);
}
