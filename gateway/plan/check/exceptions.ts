// Cross checks of the exceptions of one version: an exception that could never do anything is a mistake.
import { dayOf } from '../../policy/notation.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import { isWritten, type PolicyView, type Report, versionName, versionPath } from '../../sections/view.ts';

const RULE = 'exception';

export function checkExceptions(
  label: string,
  version: VersionParts,
  view: PolicyView,
  report: Report,
): void {
  const { exceptions = [] } = version;
  const owner = versionPath(label);
  const at = [...owner, 'exceptions'];
  const name = versionName(label, view.parts);
  if (exceptions.length > 0 && view.parts.access === 'public') {
    report(at, { rule: RULE, message: 'a public API knows no consumer to except', at: 'key' });
  }
  const sunset = effectiveSunset(version);
  const end = version.retired ?? sunset;
  const given = new Set<string>();
  for (const [index, { consumer, until, from }] of exceptions.entries()) {
    const path = [...at, index];
    if (consumer !== consumer.trim()) {
      const message = 'a blank at the beginning or the end: no token names its consumer so';
      report([...path, 'consumer'], { rule: RULE, message, hint: 'write it without' });
    }
    for (const what of from) {
      const leave = JSON.stringify([consumer, what]);
      if (given.has(leave)) {
        const message = `${view.document.show([...path, 'consumer'], consumer)} already has leave from ${what}`;
        report([...path, 'from'], { rule: RULE, message });
      }
      given.add(leave);
    }
    const wrong = (message: string, hint?: string) =>
      report([...path, 'until'], { rule: RULE, message, ...(hint !== undefined && { hint }) });
    const passes = from.includes('sunset');
    const { freeze } = version;
    if (from.includes('freeze') && freeze === undefined && !isWritten(view, [...owner, 'freeze']))
      report([...path, 'from'], { rule: RULE, message: `${name} has no freeze to be excepted from` });
    if (freeze !== undefined && from.every((what) => what === 'freeze') && until <= freeze)
      wrong(`until (${dayOf(until)}) is not after the freeze (${dayOf(freeze)}): nothing is excepted`);
    if (sunset === undefined) {
      if (passes && !isWritten(view, [...owner, 'sunset']))
        report([...path, 'from'], { rule: RULE, message: `${name} has no sunset to be excepted from` });
      continue;
    }
    if (passes && until <= sunset)
      wrong(`until (${dayOf(until)}) is not after the sunset (${dayOf(sunset)}): nothing is excepted`);
    if (end === undefined || until <= end) continue;
    if (end > sunset) wrong(`until (${dayOf(until)}) is after ${name} is retired (${dayOf(end)})`);
    else {
      const hint = passes
        ? `give ${view.unversioned ? 'the API' : 'the version'} a later retired`
        : undefined;
      wrong(`until (${dayOf(until)}) is after the sunset (${dayOf(sunset)}), where ${name} retires`, hint);
    }
  }
}
