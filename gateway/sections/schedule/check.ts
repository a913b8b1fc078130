// Checks the dates and redirects of versions.

import type { Path } from '../../plan/read/document.ts';
import { keysOf, valueAt } from '../../plan/read/values.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf } from '../../policy/notation.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';
import { API_KEYS, VERSION_KEYS } from '../policy-file.ts';
import {
  type CheckContext,
  type CheckedVersion,
  checkedVersion,
  isInherited,
  isWritten,
  type PolicyView,
  type Report,
  reportUnknownName,
} from '../view.ts';
import { dayFrom, dayUntil } from './calendar.ts';
import { checkExceptions, checkFreeze, checkLedger, checkRetireWhen } from './callers.ts';
import { effectiveSunset, extensionsOf, redirectChain, redirectOf } from './redirects.ts';

export function checkSchedule(view: PolicyView, context: CheckContext, report: Report): void {
  const versions = [...view.versions].map(([label, version]) => checkedVersion(label, version, view));
  for (const version of versions)
    for (const check of [checkDates, checkExceptions, checkFreeze, checkRetireWhen, checkRedirect])
      check(version, report);
  for (const version of versions) checkLedger(version, context, report);
}

/** A release can make a default valid. A passed sunset removes the need for an upstream. */
export function releasesAndSunsets({ versions }: PolicyView): readonly (EpochMs | undefined)[] {
  return [...versions.values()].flatMap((version) => [version.released, effectiveSunset(version)]);
}

/** DEP-4, DEP-5: each date needs the one before it and must not precede it. */
function checkDates(checked: CheckedVersion, report: Report): void {
  const { label, version, view } = checked;
  const { released, announced, deprecated, sunset, retired, forgotten } = version;
  const { document } = view;
  const what = view.unversioned ? 'the API' : 'the version';
  const at = (key: string) => [...checked.at, key];
  const order = (
    key: 'deprecated' | 'sunset' | 'retired' | 'forgotten',
    value: EpochMs | undefined,
    earlierKey: string,
    earlier: EpochMs | undefined,
  ) => {
    if (value === undefined || earlier === undefined || value >= earlier) return;
    // An inherited date has one place for many versions, so the message names the version.
    const isOfAll = isInherited(document, label, key);
    const prefix = isOfAll ? `${label}: ` : '';
    const place = !isOfAll && isInherited(document, label, earlierKey) ? placeInApi(earlierKey, view) : '';
    report(at(key), {
      rule: 'date-order',
      message: `${prefix}${key} (${dayOf(value)}) is before ${earlierKey} (${dayOf(earlier)}${place})`,
    });
  };
  order('deprecated', deprecated, 'released', released);
  order('sunset', sunset, 'deprecated', deprecated);
  if (deprecated === undefined) order('sunset', sunset, 'released', released);
  orderAnnounced(checked, report);
  order('retired', retired, 'sunset', effectiveSunset(version));
  if (retired === undefined) order('forgotten', forgotten, 'sunset', effectiveSunset(version));
  order('forgotten', forgotten, 'retired', retired);
  // An unknown key may be the misspelt date, and has its own finding.
  const isMissing = (key: string) => !isWritten(view, at(key)) && !hasUnknownKey(label, view);
  if (sunset !== undefined && isMissing('deprecated')) {
    const message = `a sunset without deprecated: before ${what} ends, callers get a Sunset header, but no Deprecation and no mail`;
    report(at('sunset'), { rule: 'date-order', severity: 'warning', message, at: 'key' });
  }
  if (announced !== undefined && isMissing('deprecated')) {
    report(at('announced'), { rule: 'date-order', message: 'announced needs deprecated', at: 'key' });
  }
  for (const key of ['extended', 'retired', 'forgotten'] as const) {
    if (version[key] === undefined || !isMissing('sunset')) continue;
    report(at(key), { rule: 'date-order', message: `${key} needs a sunset`, at: 'key' });
  }

  const extensions = extensionsOf(version);
  for (const { index, announced, moves } of extensions) {
    const before = extensions[index - 1]?.announced;
    if (before !== undefined && announced < before) {
      report([...at('extended'), index, 'announced'], {
        rule: 'date-order',
        severity: 'warning',
        message: `announced (${dayOf(announced)}) before the extension above it (${dayOf(before)})`,
        hint: 'write extensions in the order in which they were announced',
      });
    }
    if (announced < moves) continue;
    report([...at('extended'), index, 'announced'], {
      rule: 'date-order',
      message: `announced after the sunset that it moves (${dayOf(moves)}): ${view.unversioned ? 'an API' : 'a version'} that has ended is not revived`,
    });
  }
}

/** DEP-8: a deprecation is announced before it begins. An inherited announcement may be older than the version. */
function orderAnnounced({ label, version, at, view }: CheckedVersion, report: Report): void {
  const { released, announced, deprecated } = version;
  if (announced === undefined) return;
  const { document } = view;
  const path = [...at, 'announced'];
  const isOfAll = isInherited(document, label, 'announced');
  const subject = `${isOfAll ? `${label}: ` : ''}announced (${dayOf(announced)})`;
  if (deprecated !== undefined && announced > deprecated) {
    const place =
      !isOfAll && isInherited(document, label, 'deprecated') ? placeInApi('deprecated', view) : '';
    report(path, {
      rule: 'date-order',
      message: `${subject} is after deprecated (${dayOf(deprecated)}${place}): a deprecation is announced before it begins`,
      hint: `announced ${dayUntil(deprecated)} or earlier`,
    });
  }
  if (!isOfAll && released !== undefined && announced < released) {
    report(path, {
      rule: 'date-order',
      message: `${subject} is before released (${dayOf(released)})`,
      hint: `announced ${dayFrom(released)} or later`,
    });
  }
}

/** An inherited date is not in the section of the version, so the message names its line. */
function placeInApi(key: string, { document }: PolicyView): string {
  const { file, line } = document.origin([key]) ?? {};
  return `, that of the API at ${file}:${line}`;
}

function hasUnknownKey(label: string, { document }: PolicyView): boolean {
  const unknown = (path: Path, known: readonly string[]) =>
    keysOf(valueAt(document.value, path)).some((key) => !known.includes(key));
  return unknown([], API_KEYS) || unknown(['versions', label], VERSION_KEYS);
}

/** RET-4: the target is declared and does not lead back. plan/rules/ checks whether it is still served then. */
function checkRedirect({ label, version, at, view }: CheckedVersion, report: Report): void {
  const to = redirectOf(version);
  if (to === undefined) return;
  const path = [...at, 'after', 'redirect'];
  if (!view.labels.includes(to)) {
    reportUnknownName(path, 'version', to, view.labels, view, report);
    return;
  }
  const chain = redirectChain(label, view.versions);
  // RET-5: `v1` means the newest version of that major, which may be the redirecting version itself.
  const [answering] = createResolutionRules({
    header: undefined,
    default: undefined,
    labels: view.labels,
  }).candidates(to);
  if (chain.kind === 'cycle' || answering === label) {
    report(path, { rule: 'redirect', message: 'this is a redirect loop' });
  }
}
