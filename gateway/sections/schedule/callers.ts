// Checks exceptions, freeze and retire_when, and the ledger that they need.
import { dayOf } from '../../policy/notation.ts';
import {
  type CheckContext,
  type CheckedVersion,
  isWritten,
  type Report,
  type VersionCheck,
} from '../view.ts';
import { effectiveSunset, successorOf } from './redirects.ts';

const DAY_MS = 86_400_000;

export const checkExceptions: VersionCheck = ({ label, version, at: owner, view }, report) => {
  const { exceptions = [] } = version;
  const at = [...owner, 'exceptions'];
  if (exceptions.length > 0 && view.parts.access === 'public') {
    report(at, { rule: 'exception', message: 'a public API knows no consumer to except', at: 'key' });
  }
  const sunset = effectiveSunset(version);
  const end = version.retired ?? sunset;
  const seen = new Set<string>();
  for (const [index, { consumer, until, from }] of exceptions.entries()) {
    const path = [...at, index];
    if (consumer !== consumer.trim()) {
      const message = 'a blank at the beginning or the end: no token names its consumer so';
      report([...path, 'consumer'], { rule: 'exception', message, hint: 'write it without' });
    }
    for (const what of from) {
      const exceptionKey = JSON.stringify([consumer, what]);
      if (seen.has(exceptionKey)) {
        const message = `${view.document.show([...path, 'consumer'], consumer)} already has leave from ${what}`;
        report([...path, 'from'], { rule: 'exception', message });
      }
      seen.add(exceptionKey);
    }
    const wrong = (message: string, hint?: string) =>
      report([...path, 'until'], { rule: 'exception', message, ...(hint !== undefined && { hint }) });
    const passes = from.includes('sunset');
    const { freeze } = version;
    if (from.includes('freeze') && freeze === undefined && !isWritten(view, [...owner, 'freeze']))
      report([...path, 'from'], { rule: 'exception', message: `${label} has no freeze to be excepted from` });
    if (freeze !== undefined && from.every((what) => what === 'freeze') && until <= freeze)
      wrong(`until (${dayOf(until)}) is not after the freeze (${dayOf(freeze)}): nothing is excepted`);
    if (sunset === undefined) {
      if (passes && !isWritten(view, [...owner, 'sunset']))
        report([...path, 'from'], {
          rule: 'exception',
          message: `${label} has no sunset to be excepted from`,
        });
      continue;
    }
    if (passes && until <= sunset)
      wrong(`until (${dayOf(until)}) is not after the sunset (${dayOf(sunset)}): nothing is excepted`);
    if (end === undefined || until <= end) continue;
    if (end > sunset) wrong(`until (${dayOf(until)}) is after ${label} is retired (${dayOf(end)})`);
    else {
      const hint = passes
        ? `give ${view.unversioned ? 'the API' : 'the version'} a later retired`
        : undefined;
      wrong(`until (${dayOf(until)}) is after the sunset (${dayOf(sunset)}), where ${label} retires`, hint);
    }
  }
};

export const checkFreeze: VersionCheck = ({ label, version, at: owner, view }, report) => {
  const { freeze, deprecated, alternate } = version;
  if (freeze === undefined) return;
  const at = [...owner, 'freeze'];
  if (view.parts.access === 'public')
    report(at, { rule: 'freeze', message: 'a public API knows no consumer that could be new', at: 'key' });
  if (deprecated === undefined) {
    if (!isWritten(view, [...owner, 'deprecated']))
      report(at, {
        rule: 'freeze',
        message: 'freeze needs deprecated: a version that is not to go has nobody to keep away',
        at: 'key',
      });
  } else if (freeze < deprecated) {
    const message = `freeze (${dayOf(freeze)}) is before deprecated (${dayOf(deprecated)})`;
    report(at, { rule: 'freeze', message, hint: 'nobody is refused before callers are told of the end' });
  }
  const sunset = effectiveSunset(version);
  if (sunset !== undefined && freeze >= sunset) {
    const message = `freeze (${dayOf(freeze)}) is not before the sunset (${dayOf(sunset)}): it refuses nobody`;
    report(at, { rule: 'freeze', message });
  }
  const leadsOn = [successorOf(version), alternate].some((each) => each !== undefined);
  if (!leadsOn && !isWritten(view, [...owner, 'successor']) && !isWritten(view, [...owner, 'alternate'])) {
    report(at, {
      rule: 'freeze',
      severity: 'warning',
      message: `${label} is frozen without a successor: who is refused is told nowhere to go`,
      hint: view.unversioned ? 'add alternate: and its URL' : 'add successor: and the version to move to',
      at: 'key',
    });
  }
};

export const checkRetireWhen: VersionCheck = ({ label, version, at: owner, view }, report) => {
  const { retire_when: rule, sunset, deprecated } = version;
  if (rule === undefined) return;
  const at = [...owner, 'retire_when'];
  const finding = (message: string, hint: string) =>
    report(at, { rule: 'retire-when', message, hint, at: 'key' });
  if (sunset === undefined && !isWritten(view, [...owner, 'sunset']))
    finding(`${label} has no sunset that its usage could hold`, 'add sunset: and its date');
  else if (deprecated === undefined && !isWritten(view, [...owner, 'deprecated']))
    finding(
      `${label} is never deprecated, so that its calls are not counted`,
      'add deprecated: and its date',
    );
  if (rule.onExceed === 'hold' && view.parts.mode === 'observe') {
    const message = 'an API that is only observed ends nothing that could be held';
    report([...at, 'on_exceed'], { rule: 'retire-when', severity: 'warning', message, hint: 'write warn' });
  }
};

export function checkLedger(
  { version, at }: CheckedVersion,
  { ledgerDays }: CheckContext,
  report: Report,
): void {
  if (ledgerDays === undefined) return;
  const { freeze, retire_when: rule } = version;
  const warn = (key: string, message: string, hint: string) =>
    report([...at, key], {
      rule: 'ledger',
      severity: 'warning',
      message,
      hint,
      at: 'key',
    });
  if (ledgerDays === 0) {
    const hint = 'take ledger: off out of the gateway file';
    if (freeze !== undefined) warn('freeze', 'nobody is refused while no ledger is kept', hint);
    if (rule !== undefined) warn('retire_when', 'nothing is judged while no ledger is kept', hint);
    return;
  }
  const sunset = effectiveSunset(version);
  const frozenDays = freeze === undefined || sunset === undefined ? 0 : Math.ceil((sunset - freeze) / DAY_MS);
  if (frozenDays > ledgerDays) {
    const message = `it lasts ${frozenDays} days and the ledger keeps ${ledgerDays}: a caller that pauses longer is refused as new`;
    warn('freeze', message, 'write a longer keep: of the ledger in the gateway file, or a later freeze');
  }
  if (rule !== undefined && rule.days >= ledgerDays) {
    const message = `the ledger keeps ${ledgerDays} days, today among them: it never has ${rule.days} whole ones`;
    warn('retire_when', message, 'write fewer days, or a longer keep: of the ledger in the gateway file');
  }
}
