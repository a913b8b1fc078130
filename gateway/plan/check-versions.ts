// Cross checks inside one policy file: labels, dates, successors, redirects, upstreams per version.
// They run on whatever is well formed, so that one slip does not hide the others.
import type { EpochMs } from '../policy/contract.ts';
import { dayOf } from '../policy/notation.ts';
import { parseLabel } from '../policy/versioning/label.ts';
import { createResolutionRules } from '../policy/versioning/rules.ts';
import { checkDates } from './check-dates.ts';
import type { VersionParts } from './policy-grammar.ts';
import { effectiveSunset, hasSunset, redirectChain, redirectOf } from './redirects.ts';
import { suggest } from './shape-issues.ts';
import { isWritten, type PolicyView, type Report } from './views.ts';

const NO_CARRIERS = { header: undefined, default: undefined };

export function checkVersions(view: PolicyView, now: EpochMs, report: Report): void {
  for (const [label, version] of view.versions) {
    if (parseLabel(label) === undefined) {
      const hint = /^\d/.test(label) ? 'write v and the number, such as v1 or v1.2.0' : undefined;
      report(['versions', label], {
        rule: 'label',
        message: `not a version label: "${label.slice(0, 60)}"`,
        hint,
        at: 'key',
      });
    }
    checkDates(label, version, view, report);
    checkSuccessor(label, version, view, now, report);
    checkRedirect(label, version, view, now, report);
  }
  checkUpstreamsPerVersion(view, now, report);
}

function checkSuccessor(
  label: string,
  version: VersionParts,
  view: PolicyView,
  now: EpochMs,
  report: Report,
): void {
  const { successor, deprecated } = version;
  if (successor === undefined) return;
  const target = view.versions.get(successor) ?? {};
  const { released = now } = target;
  const path = ['versions', label, 'successor'];
  if (successor === label)
    report(path, { rule: 'reference', message: 'a version cannot be its own successor' });
  else if (!view.labels.includes(successor))
    reportDangling(path, 'version', successor, view.labels, view, report);
  else if (hasSunset(target, now)) {
    report(path, {
      rule: 'reference',
      severity: 'warning',
      message: 'the successor itself is past its sunset',
    });
  } else if (deprecated !== undefined && released > Math.max(deprecated, now)) {
    // Said while it lies ahead: what has been is past cure.
    const message = `${label} points to ${successor} from ${dayOf(deprecated)} on, before it is released (${dayOf(released)})`;
    report(path, { rule: 'date-order', severity: 'warning', message });
  }
}

/**
 * RET-4. What is an error here does not depend on the day: a file that was good must stay good while its dates pass,
 * or a gateway could not be started again the morning after one.
 */
function checkRedirect(
  label: string,
  version: VersionParts,
  view: PolicyView,
  now: EpochMs,
  report: Report,
): void {
  const to = redirectOf(version);
  if (to === undefined) return;
  const path = ['versions', label, 'after', 'redirect'];
  const wrong = (message: string, severity: 'error' | 'warning' = 'error') =>
    report(path, { rule: 'redirect', severity, message });
  if (!view.labels.includes(to)) {
    reportDangling(path, 'version', to, view.labels, view, report);
    return;
  }
  const chain = redirectChain(label, view.versions);
  // A request for `v1` is answered by the newest version of that major, which may be the one that redirects (RET-5).
  const [answering] = createResolutionRules({ ...NO_CARRIERS, labels: view.labels }).candidates(to);
  if (chain.kind === 'cycle' || answering === label) {
    wrong('this redirect leads in a circle');
    return;
  }
  const ends = effectiveSunset(version);
  if (ends === undefined) return;
  const released = view.versions.get(to)?.released;
  if (released !== undefined && released > ends) {
    wrong(`${label} ends on ${dayOf(ends)}, before ${to} is released (${dayOf(released)})`);
  }
  const [last] = chain.hops.toSorted((a, b) => b.until - a.until);
  if (last === undefined || last.until > Math.max(ends, now)) return;
  if (last.until <= ends) wrong(`${label} ends on ${dayOf(ends)}, and ${last.label} has ended by then`);
  else
    wrong(`${last.label} has ended as well: requests for ${label} get 410 instead of a redirect`, 'warning');
}

function checkUpstreamsPerVersion(view: PolicyView, now: EpochMs, report: Report): void {
  if (view.unversioned) {
    if (view.upstreamNames.length !== 1) {
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
    report(['upstreams', name], { rule: 'reference', message, hint: suggest(name, view.labels), at: 'key' });
  }
  for (const [label, version] of view.versions) {
    if (view.upstreamNames.includes(label) || hasSunset(version, now) || parseLabel(label) === undefined)
      continue;
    if (version.sunset === undefined && isWritten(view, ['versions', label, 'sunset'])) continue;
    report(['versions', label], {
      rule: 'reference',
      message: `${label} has no upstream and its sunset has not passed`,
      at: 'key',
    });
  }
}

/** A name that nothing bears; shown as an operator may see it. */
export function reportDangling(
  path: readonly (string | number)[],
  noun: string,
  name: string,
  known: readonly string[],
  view: Pick<PolicyView, 'document'>,
  report: Report,
): void {
  const shown = view.document.show(path, name);
  const hint = view.document.isSecret(path) ? undefined : suggest(name, known);
  report(path, { rule: 'reference', message: `no ${noun} is called ${shown}`, hint });
}
