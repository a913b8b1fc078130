// Cross checks inside one policy file: labels, dates, successors, redirects, upstreams per version.
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf } from '../../policy/notation.ts';
import { parseLabel } from '../../policy/versioning/label.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';
import { reportDangling } from '../../sections/dangling.ts';
import { VERSION_KEYS, type VersionParts } from '../../sections/policy-file.ts';
import {
  effectiveSunset,
  hasSunset,
  redirectChain,
  redirectOf,
  successorOf,
} from '../../sections/schedule/redirects.ts';
import { isWritten, type PolicyView, type Report, versionName, versionPath } from '../../sections/view.ts';
import { suggestOrList } from '../read/shape-issues.ts';
import { checkDates } from './dates.ts';
import { checkExceptions } from './exceptions.ts';
import { checkOperations } from './operations.ts';

const NO_CARRIERS = { header: undefined, default: undefined };

export function checkVersions(view: PolicyView, now: EpochMs, report: Report): void {
  for (const [label, version] of view.versions) {
    if (!view.unversioned && parseLabel(label) === undefined) {
      report(['versions', label], {
        rule: 'label',
        message: `not a version label: "${label.slice(0, 60)}"`,
        hint: labelMeant(label),
        at: 'key',
      });
    }
    checkReach(label, view, report);
    checkDates(label, version, view, report);
    checkOperations(label, version, view, report);
    checkExceptions(label, version, view, report);
    checkFreeze(label, version, view, report);
    checkRetireWhen(label, version, view, report);
    checkRedirect(label, version, view, report);
    checkAlternate(label, version, report);
  }
  checkUpstreamsPerVersion(view, now, report);
}

function labelMeant(label: string): string {
  if (VERSION_KEYS.includes(label)) return 'it belongs in the version above: write it farther right';
  const near = `v${label.replace(/^(?:v|version|ver|release)[\s._-]*/i, '')}`;
  return parseLabel(near) === undefined
    ? 'write v and the number, such as v1 or v1.2.0, or a date such as 2026-01-15'
    : `write ${near}`;
}

/** `vN` means the newest version of that major, so that a full one beside it takes all its requests. */
function checkReach(label: string, { labels }: PolicyView, report: Report): void {
  const short = parseLabel(label);
  if (short?.kind !== 'number' || short.minor !== undefined) return;
  const [answering] = createResolutionRules({ ...NO_CARRIERS, labels }).candidates(label);
  if (answering === undefined || answering === label) return;
  report(['versions', label], {
    rule: 'label',
    severity: 'warning',
    message: `once ${answering} is released nobody reaches ${label}: a request for ${label} gets ${answering}`,
    hint: `call it ${label}.0.0, so that it can be asked for by its full name`,
    at: 'key',
  });
}

function checkAlternate(label: string, version: VersionParts, report: Report): void {
  const successor = successorOf(version);
  if (version.alternate === undefined || successor === undefined) return;
  report(['versions', label, 'alternate'], {
    rule: 'reference',
    message: `${label} leads to ${successor}: alternate is for a version without a successor`,
    at: 'key',
  });
}

/** RET-4: it leads to a declared version, and not back. Whether that is served by then is the matter of rules/. */
function checkRedirect(label: string, version: VersionParts, view: PolicyView, report: Report): void {
  const to = redirectOf(version);
  if (to === undefined) return;
  const path = ['versions', label, 'after', 'redirect'];
  if (!view.labels.includes(to)) {
    reportDangling(path, 'version', to, view.labels, view, report);
    return;
  }
  const chain = redirectChain(label, view.versions);
  // A request for `v1` is answered by the newest version of that major, which may be the one that redirects (RET-5).
  const [answering] = createResolutionRules({ ...NO_CARRIERS, labels: view.labels }).candidates(to);
  if (chain.kind === 'cycle' || answering === label) {
    report(path, { rule: 'redirect', message: 'this redirect leads in a circle' });
  }
}

function checkUpstreamsPerVersion(view: PolicyView, now: EpochMs, report: Report): void {
  if (view.unversioned) {
    const hasEnded = [...view.versions.values()].some((api) => hasSunset(api, now));
    if (view.upstreamNames.length !== 1 && !(hasEnded && view.upstreamNames.length === 0)) {
      report(['upstreams'], {
        rule: 'reference',
        message: 'an API with "versions: none" has exactly one upstream',
        at: 'key',
      });
    }
    return;
  }
  if (view.labels.length === 0) {
    if (view.parts.versions !== undefined)
      report(['versions'], { rule: 'reference', message: 'no version is declared', at: 'key' });
    return;
  }
  for (const name of view.upstreamNames) {
    if (view.labels.includes(name)) continue;
    const message = `no version is called "${name.slice(0, 60)}"`;
    const hint = suggestOrList(name, view.labels);
    report(['upstreams', name], { rule: 'reference', message, hint, at: 'key' });
  }
  for (const [label, version] of view.versions) {
    if (view.upstreamNames.includes(label) || hasSunset(version, now) || parseLabel(label) === undefined)
      continue;
    if (version.sunset === undefined && isWritten(view, ['versions', label, 'sunset'])) continue;
    report(['versions', label], {
      rule: 'reference',
      message: `${label} has no upstream and its sunset has not passed`,
      hint: `write upstreams: { ${label}: { targets: [ … ] } }`,
      at: 'key',
    });
  }
}

function checkFreeze(label: string, version: VersionParts, view: PolicyView, report: Report): void {
  const { freeze, deprecated, alternate } = version;
  if (freeze === undefined) return;
  const owner = versionPath(label);
  const at = [...owner, 'freeze'];
  const name = versionName(label, view.parts);
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
      message: `${name} is frozen without a successor: who is refused is told nowhere to go`,
      hint: view.unversioned ? 'add alternate: and its URL' : 'add successor: and the version to move to',
      at: 'key',
    });
  }
}

function checkRetireWhen(label: string, version: VersionParts, view: PolicyView, report: Report): void {
  const { retire_when: rule, sunset, deprecated } = version;
  if (rule === undefined) return;
  const owner = versionPath(label);
  const at = [...owner, 'retire_when'];
  const name = versionName(label, view.parts);
  const finding = (message: string, hint: string) =>
    report(at, { rule: 'retire-when', message, hint, at: 'key' });
  if (sunset === undefined && !isWritten(view, [...owner, 'sunset']))
    finding(`${name} has no sunset that its usage could hold`, 'add sunset: and its date');
  else if (deprecated === undefined && !isWritten(view, [...owner, 'deprecated']))
    finding(`${name} is never deprecated, so that its calls are not counted`, 'add deprecated: and its date');
  if (rule.onExceed === 'hold' && view.parts.mode === 'observe') {
    const message = 'an API that is only observed ends nothing that could be held';
    report([...at, 'on_exceed'], { rule: 'retire-when', severity: 'warning', message, hint: 'write warn' });
  }
}
