// successor-exists: the version named as successor is declared in this file, and is another one.
// Where a redirect leads is not switchable: it is checked with the redirect itself.
import { reportDangling } from '../check/dangling.ts';
import type { Report } from '../check/views.ts';
import type { Rule } from './subject.ts';

export const successorExists: Rule = ({ label, version, at, view }, report) => {
  const { successor } = version;
  if (successor === undefined) return;
  const path = [...at, 'successor'];
  if (successor === label) {
    report(path, { rule: 'successor-exists', message: 'a version cannot be its own successor' });
  } else if (!view.labels.includes(successor)) {
    const named: Report = (place, finding) => report(place, { ...finding, rule: 'successor-exists' });
    reportDangling(path, 'version', successor, view.labels, view, named);
  }
};
