// Checks exceptions, freeze and retire_when, and the ledger that they need.
import { dayOf } from '../../policy/notation.ts';
import {
  type CheckContext,
  type CheckedVersion,
  isWritten,
  type Report,
  type VersionCheck,
} from '../view.ts';
import { dayFrom } from './calendar.ts';
import { effectiveSunset, successorOf } from './redirects.ts';

const DAY_MS = 86_400_000;

export const checkExceptions: VersionCheck = ({ label, version, at: owner, view }, report) => {
  const { exceptions = [] } = version;
  const at = [...owner, 'exceptions'];
  if (exceptions.length > 0 && view.parts.access === 'public') {
    report(at, {
      rule: 'exception',
      message: 'a public API identifies no consumers, so exceptions have no effect',
      at: 'key',
    });
  }
  const sunset = effectiveSunset(version);
  const end = version.retired ?? sunset;
  const seen = new Set<string>();
  for (const [index, { consumer, until, from }] of exceptions.entries()) {
    const path = [...at, index];
    if (consumer !== consumer.trim()) {
      const message = 'the consumer begins or ends with a blank, so it matches no token';
      report([...path, 'consumer'], { rule: 'exception', message, hint: 'remove the blank' });
    }
    for (const what of from) {
      const exceptionKey = JSON.stringify([consumer, what]);
      if (seen.has(exceptionKey)) {
        const message = `${view.document.show([...path, 'consumer'], consumer)} already has an exception from ${what}`;
        report([...path, 'from'], { rule: 'exception', message });
      }
      seen.add(exceptionKey);
    }
    const wrong = (message: string, hint?: string) =>
      report([...path, 'until'], { rule: 'exception', message, ...(hint !== undefined && { hint }) });
    const passes = from.includes('sunset');
    const { freeze } = version;
    if (from.includes('freeze') && freeze === undefined && !isWritten(view, [...owner, 'freeze']))
      report([...path, 'from'], {
        rule: 'exception',
        message: `${label} has no freeze, so an exception from freeze has no effect`,
      });
    if (freeze !== undefined && from.every((what) => what === 'freeze') && until <= freeze)
      wrong(
        `until (${dayOf(until)}) is not after the freeze (${dayOf(freeze)}), so the exception has no effect`,
      );
    if (sunset === undefined) {
      if (passes && !isWritten(view, [...owner, 'sunset']))
        report([...path, 'from'], {
          rule: 'exception',
          message: `${label} has no sunset, so an exception from sunset has no effect`,
        });
      continue;
    }
    if (passes && until <= sunset)
      wrong(
        `until (${dayOf(until)}) is not after the sunset (${dayOf(sunset)}), so the exception from sunset has no effect`,
      );
    if (end === undefined || until <= end) continue;
    if (end > sunset) wrong(`until (${dayOf(until)}) is after ${label} retires (${dayOf(end)})`);
    else {
      const hint = passes
        ? `give ${view.unversioned ? 'the API' : 'the version'} a later retired`
        : undefined;
      wrong(`until (${dayOf(until)}) is after ${label} retires (${dayOf(sunset)}, its sunset)`, hint);
    }
  }
};

export const checkFreeze: VersionCheck = ({ label, version, at: owner, view }, report) => {
  const { freeze, deprecated, alternate } = version;
  if (freeze === undefined) return;
  const at = [...owner, 'freeze'];
  if (view.parts.access === 'public')
    report(at, {
      rule: 'freeze',
      message: 'a public API identifies no consumers, so freeze has no effect',
      at: 'key',
    });
  if (deprecated === undefined) {
    if (!isWritten(view, [...owner, 'deprecated']))
      report(at, {
        rule: 'freeze',
        message: 'freeze needs deprecated: only a deprecated version can be frozen',
        at: 'key',
      });
  } else if (freeze < deprecated) {
    const message = `freeze (${dayOf(freeze)}) is before deprecated (${dayOf(deprecated)})`;
    report(at, { rule: 'freeze', message, hint: `write ${dayFrom(deprecated)} or later` });
  }
  const sunset = effectiveSunset(version);
  if (sunset !== undefined && freeze >= sunset) {
    const message = `freeze (${dayOf(freeze)}) is not before the sunset (${dayOf(sunset)}), so the freeze has no effect`;
    report(at, { rule: 'freeze', message });
  }
  const leadsOn = [successorOf(version), alternate].some((each) => each !== undefined);
  if (!leadsOn && !isWritten(view, [...owner, 'successor']) && !isWritten(view, [...owner, 'alternate'])) {
    report(at, {
      rule: 'freeze',
      severity: 'warning',
      message: `${label} is frozen without a successor: refused consumers get no alternative`,
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
    finding(`${label} has no sunset, so retire_when has no effect`, 'add sunset: and its date');
  else if (deprecated === undefined && !isWritten(view, [...owner, 'deprecated']))
    finding(`${label} is never deprecated, so its calls are not counted`, 'add deprecated: and its date');
  if (rule.onExceed === 'hold' && view.parts.mode === 'observe') {
    const message = 'in observe mode no version ends, so hold has no effect';
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
    const hint = 'remove ledger: off from the gateway file';
    if (freeze !== undefined) warn('freeze', 'freeze has no effect while the ledger is off', hint);
    if (rule !== undefined) warn('retire_when', 'retire_when has no effect while the ledger is off', hint);
    return;
  }
  const sunset = effectiveSunset(version);
  const frozenDays = freeze === undefined || sunset === undefined ? 0 : Math.ceil((sunset - freeze) / DAY_MS);
  if (frozenDays > ledgerDays) {
    const message = `the freeze lasts ${frozenDays} days, but the ledger keeps ${ledgerDays}: consumers with a longer break are refused as new`;
    warn('freeze', message, 'write a longer keep: of the ledger in the gateway file, or a later freeze');
  }
  if (rule !== undefined && rule.days >= ledgerDays) {
    const message = `the ledger keeps ${ledgerDays} days including today, so it never has ${rule.days} whole days`;
    warn('retire_when', message, 'write fewer days, or a longer keep: of the ledger in the gateway file');
  }
}
