// Cross checks of one policy file against itself and the gateway: carriers, access, limits, where upstreams point.
// Versions and their dates have their own file.
import { portOf, reaches } from './addresses.ts';
import { checkVersions, reportDangling } from './check-versions.ts';
import { DEFAULT_TIMEOUTS } from './compile-upstream.ts';
import type { Path } from './document.ts';
import { isWritten, type PolicyView, type Report, type Surroundings } from './views.ts';

export function checkPolicy(view: PolicyView, around: Surroundings, report: Report): void {
  checkVersions(view, around.now, report);
  if (view.unversioned) checkUnversioned(view, report);
  else checkResolve(view, report);
  checkAccess(view, around, report);
  checkLimits(view, report);
  checkLowering(view, report);
  checkUpstreams(view, around, report);
}

/** Without versions there is nothing to resolve, to deprecate or to tell an upstream: such a key would do nothing. */
function checkUnversioned(view: PolicyView, report: Report): void {
  const idle: Path[] = [['resolve'], ['deprecation_header'], ['warning'], ['limits', 'deprecated']];
  for (const name of view.upstreamNames) idle.push(['upstreams', name, 'version_as']);
  for (const path of idle) {
    if (!isWritten(view, path)) continue;
    const message = `${path.at(-1)} does nothing in an API with "versions: none"`;
    report(path, { rule: 'unversioned', message, at: 'key' });
  }
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
  for (const kind of ['path', 'header', 'default'] as const) {
    const places = resolve.flatMap((entry, index) => (entry[kind] === undefined ? [] : [index]));
    for (const index of places.slice(1))
      report(['resolve', index], { rule: 'resolve', message: `a second ${kind}` });
  }
  for (const [index, { default: label }] of resolve.entries()) {
    if (label === undefined || view.labels.includes(label)) continue;
    reportDangling(['resolve', index, 'default'], 'version', label, view.labels, view, report);
  }
  const redirects = [...view.versions.values()].some(({ after }) => typeof after === 'object');
  if (redirects && !resolve.some(({ path }) => path !== undefined)) {
    const message =
      'without a path for the version a redirect would lead back to the same URL: those requests get 410';
    report(['resolve'], { rule: 'redirect', severity: 'warning', message, at: 'key' });
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

function checkLimits(view: PolicyView, report: Report): void {
  const { limits, access } = view.parts;
  if (limits?.by === 'consumer' && access === 'public') {
    report(['limits', 'by'], {
      rule: 'limits',
      message: 'a public API knows no consumer',
      hint: 'write by: address',
    });
  }
  if (isWritten(view, ['limits', 'rate'])) return;
  const lacksRate = (label: string) => !isWritten(view, ['versions', label, 'limits', 'rate']);
  const message = 'a limit needs a rate';
  if (limits !== undefined && (view.unversioned || view.labels.some(lacksRate))) {
    report(['limits'], { rule: 'limits', message, at: 'key' });
  } else {
    for (const [label, version] of view.versions) {
      if (version.limits === undefined || !lacksRate(label)) continue;
      report(['versions', label, 'limits'], { rule: 'limits', message, at: 'key' });
    }
  }
}

/** RL-11: what a deprecated version may still be called is meant to be less. */
function checkLowering(view: PolicyView, report: Report): void {
  const { limits } = view.parts;
  for (const [label, { limits: own, deprecated }] of view.versions) {
    const lowered = own?.deprecated ?? (deprecated === undefined ? undefined : limits?.deprecated);
    const rate = own?.rate ?? limits?.rate;
    if (lowered?.kind !== 'absolute' || rate === undefined) continue;
    if (lowered.units / lowered.windowMs <= rate.units / rate.windowMs) continue;
    const path = own?.deprecated === undefined ? ['limits'] : ['versions', label, 'limits'];
    const message = `this limit is higher than the rate that it should lower for ${label}`;
    report([...path, 'deprecated'], { rule: 'limits', severity: 'warning', message });
  }
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
