// Cross checks of one policy file against itself and the gateway: carriers, access, limits, where upstreams point.
// Versions and their dates have their own file.

import { isDate } from '../../policy/versioning/label.ts';
import { pathsOf } from '../api-routes.ts';
import { DEFAULT_TIMEOUTS } from '../compile/upstream.ts';
import { portOf, reaches } from '../grammar/addresses.ts';
import type { Path } from '../read/document.ts';
import { reservedPath } from '../reserved-paths.ts';
import { checkRules } from '../rules/check.ts';
import { switchedReport } from '../rules/switch.ts';
import { reportDangling } from './dangling.ts';
import { checkHeaders } from './headers.ts';
import { checkLimits } from './limits.ts';
import { checkLowering } from './lowering.ts';
import { checkMaintenance } from './maintenance.ts';
import { checkPin } from './pin.ts';
import { checkTargets } from './targets.ts';
import { checkVersions } from './versions.ts';
import { isWritten, type PolicyView, type Report, type Surroundings } from './views.ts';

type ResolveEntries = NonNullable<PolicyView['parts']['resolve']>;

export function checkPolicy(view: PolicyView, around: Surroundings, unswitched: Report): void {
  const report = switchedReport(view.parts.rules, unswitched);
  checkVersions(view, around.now, report);
  checkRules(view, report);
  if (view.unversioned) checkUnversioned(view, report);
  else checkResolve(view, report);
  checkAccess(view, around, report);
  checkLimits(view, report);
  checkLowering(view, report);
  checkUpstreams(view, around, report);
  checkTargets(view, report);
  checkMaintenance(view, around.now, report);
  checkHeaders(view, report);
  checkReserved(view, report);
}

/** Without versions there is nothing to resolve or to tell an upstream, and perhaps nothing to deprecate: such a key would do nothing. */
function checkUnversioned(view: PolicyView, report: Report): void {
  const idle: Path[] = [['resolve'], ['rewrite_content_type'], ['unknown_version_status']];
  for (const name of view.upstreamNames) idle.push(['upstreams', name, 'version_as']);
  const undated: Path[] = [['deprecation_header'], ['warning'], ['limits', 'deprecated']];
  const say = (paths: readonly Path[], where: string) => {
    for (const path of paths.filter((each) => isWritten(view, each))) {
      report(path, {
        rule: 'unversioned',
        message: `${path.at(-1)} does nothing in an API ${where}`,
        at: 'key',
      });
    }
  };
  say(idle, 'with "versions: none"');
  if (!isWritten(view, ['deprecated'])) say(undated, 'with "versions: none" and no deprecated of its own');
}

function checkResolve(view: PolicyView, report: Report): void {
  const { resolve } = view.parts;
  if (resolve === undefined) {
    if (!isWritten(view, ['resolve']) && view.labels.length > 0) {
      report(['resolve'], {
        rule: 'resolve',
        message: 'the key "resolve" is missing: say where clients write the version',
        at: 'key',
      });
    }
    return;
  }
  for (const kind of ['path', 'header', 'query', 'subdomain', 'pin', 'default'] as const) {
    const places = resolve.flatMap((entry, index) => (entry[kind] === undefined ? [] : [index]));
    for (const index of places.slice(1))
      report(['resolve', index], { rule: 'resolve', message: `a second ${kind}` });
  }
  for (const [index, { default: label }] of resolve.entries()) {
    if (label === undefined || view.labels.includes(label)) continue;
    reportDangling(['resolve', index, 'default'], 'version', label, view.labels, view, report);
  }
  const redirects = [...view.versions.values()].some(({ after }) => typeof after === 'object');
  checkSubdomain(view, resolve, report);
  checkMatch(view, resolve, report);
  checkContentType(view, resolve, report);
  checkPin(view, report);
  if (redirects && !resolve.some(({ path, subdomain }) => path !== undefined || subdomain !== undefined)) {
    const message =
      'without a path or subdomain for the version a redirect would lead back to the same URL: those requests get 410';
    report(['resolve'], { rule: 'redirect', severity: 'warning', message, at: 'key' });
  }
}

/** One label of a host name holds no dot, so nothing could lead there to a semantic version. */
function checkSubdomain(view: PolicyView, resolve: ResolveEntries, report: Report): void {
  const index = resolve.findIndex(({ subdomain }) => subdomain !== undefined);
  const dotted = view.labels.find((label) => label.includes('.'));
  if (index < 0 || dotted === undefined || resolve.some(({ path }) => path !== undefined)) return;
  report(['resolve', index, 'subdomain'], {
    rule: 'resolve',
    message: `no subdomain can name the version ${dotted}`,
    hint: 'add a path, or call versions v1, v2',
  });
}

function checkMatch(view: PolicyView, resolve: ResolveEntries, report: Report): void {
  const index = resolve.findIndex(({ match }) => match !== undefined);
  if (index < 0 || view.labels.length === 0 || view.labels.some(isDate)) return;
  const message = 'match does nothing where no version is a date';
  report(['resolve', index, 'match'], { rule: 'resolve', severity: 'warning', message, at: 'key' });
}

function checkContentType(view: PolicyView, resolve: ResolveEntries, report: Report): void {
  if (view.parts.rewrite_content_type !== true || resolve.some((entry) => entry.media_type !== undefined))
    return;
  const message = 'rewrite_content_type does nothing where no media_type carries the version';
  report(['rewrite_content_type'], { rule: 'resolve', severity: 'warning', message, at: 'key' });
}

/** The gateway answers these paths itself: an API there would never be asked. */
function checkReserved(view: PolicyView, report: Report): void {
  for (const { path, at } of pathsOf(view.parts)) {
    const reserved = reservedPath(path);
    if (reserved === undefined) continue;
    report(at, { rule: 'reserved', message: `${reserved} is reserved by the gateway` });
  }
}

function checkAccess(view: PolicyView, around: Surroundings, report: Report): void {
  const { access } = view.parts;
  if (
    typeof access !== 'object' ||
    around.identities === undefined ||
    around.identities.includes(access.identity)
  )
    return;
  reportDangling(['access', 'identity'], 'identity', access.identity, around.identities, view, report);
}

function checkUpstreams(view: PolicyView, around: Surroundings, report: Report): void {
  for (const name of view.upstreamNames) {
    const upstreams = view.parts.upstreams ?? {};
    const upstream = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
    for (const [index, target] of (upstream?.targets ?? []).entries()) {
      const path = ['upstreams', name, 'targets', index];
      const listener = around.listeners.find(({ address }) => reaches(target, address));
      if (listener !== undefined) {
        report(path, {
          rule: 'loop',
          message: `this target is the ${listener.name} listener of this gateway`,
        });
      } else if (around.public !== undefined && sameOrigin(target, around.public)) {
        report(path, { rule: 'loop', message: 'this target is the public address of this gateway' });
      }
    }
    const timeout = upstream?.timeout;
    const written = typeof timeout === 'object' ? timeout : { headers: timeout, total: undefined };
    if ((written.headers ?? DEFAULT_TIMEOUTS.headers) > (written.total ?? DEFAULT_TIMEOUTS.total)) {
      report(['upstreams', name, 'timeout'], {
        rule: 'timeout',
        message: 'the time for headers is longer than the total',
      });
    }
  }
}

function sameOrigin(a: string, b: string): boolean {
  return new URL(a).hostname === new URL(b).hostname && portOf(a) === portOf(b);
}
