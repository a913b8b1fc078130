// Cross checks of one policy file against itself and the gateway: access, limits, where upstreams point.
import { SECTIONS } from '../../sections/list.ts';
import type { UpstreamFile } from '../../sections/policy-file.ts';
import { isWritten, type PolicyView, type Report, type Surroundings } from '../../sections/view.ts';
import { DEFAULT_TIMEOUTS } from '../compile/upstream.ts';
import { portOf, reaches } from '../grammar/addresses.ts';
import type { Path } from '../read/document.ts';
import { pathsOf } from '../routes/api-routes.ts';
import { reservedPath } from '../routes/reserved-paths.ts';
import { checkRules } from '../rules/check.ts';
import { switchedReport } from '../rules/switch.ts';
import { checkHosts } from './hosts.ts';
import { checkLedger } from './ledger.ts';
import { checkMethodOverride } from './method-override.ts';
import { checkVersions } from './versions.ts';

type UpstreamParts = { readonly [K in keyof UpstreamFile]?: UpstreamFile[K] | undefined };

export function checkPolicy(view: PolicyView, around: Surroundings, unswitched: Report): void {
  const report = switchedReport(view.parts.rules, unswitched);
  checkVersions(view, around.now, report);
  checkLedger(view, around, report);
  checkRules(view, around.paths, report);
  if (view.unversioned) checkUnversioned(view, report);
  for (const { check } of SECTIONS) check?.(view, around, report);
  checkHosts(view, around.certifiedNames, report);
  checkUpstreams(view, around, report);
  checkTargets(view, report);
  checkMethodOverride(view, report);
  checkReserved(view, report);
}

/** Without versions there is nothing to resolve or to tell an upstream, and perhaps nothing to deprecate: such a key would do nothing. */
function checkUnversioned(view: PolicyView, report: Report): void {
  const ofUpstreams = view.upstreamNames.map((name) => ['upstreams', name, 'version_as']);
  const idle = [...SECTIONS.flatMap(({ needsVersions = [] }) => needsVersions), ...ofUpstreams];
  const undated = SECTIONS.flatMap(({ needsDeprecation = [] }) => needsDeprecation);
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

/** The gateway answers these paths itself: an API there would never be asked. */
function checkReserved(view: PolicyView, report: Report): void {
  for (const { path, at } of pathsOf(view.parts)) {
    const reserved = reservedPath(path);
    if (reserved === undefined) continue;
    report(at, { rule: 'reserved', message: `${reserved} is reserved by the gateway` });
  }
}

function checkUpstreams(view: PolicyView, around: Surroundings, report: Report): void {
  for (const name of view.upstreamNames) {
    const upstreams = view.parts.upstreams ?? {};
    const upstream = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
    for (const [index, target] of (upstream?.targets ?? []).entries()) {
      const path = ['upstreams', name, 'targets', index];
      const listener = around.listeners.find(({ address }) => reaches(target, address));
      if (new URL(target).port === '0') {
        report(path, {
          rule: 'target',
          message: 'nothing answers on port 0',
          hint: 'write the port of the service',
        });
      } else if (listener !== undefined) {
        report(path, {
          rule: 'loop',
          message: `this target is the ${listener.name} listener of this gateway`,
        });
      } else if (around.public !== undefined && sameOrigin(target, around.public)) {
        report(path, { rule: 'loop', message: 'this target is the public address of this gateway' });
      }
    }
    const timeout = upstream?.timeout;
    const written = typeof timeout === 'object' ? timeout : { headers: timeout };
    const { connect = 0, headers = DEFAULT_TIMEOUTS.headers, total = DEFAULT_TIMEOUTS.total } = written;
    const longer = headers > total ? 'for headers' : connect > total ? 'to connect' : undefined;
    if (longer !== undefined) {
      const unwritten = headers > total && written.headers === undefined;
      const message = `the time ${longer}${unwritten ? `, ${headers / 1_000}s unless written,` : ''} is longer than the total`;
      report(['upstreams', name, 'timeout'], { rule: 'timeout', message });
    }
  }
}

function sameOrigin(a: string, b: string): boolean {
  return new URL(a).hostname === new URL(b).hostname && portOf(a) === portOf(b);
}

function checkTargets(view: PolicyView, report: Report): void {
  const upstreams = view.parts.upstreams ?? {};
  for (const name of view.upstreamNames) {
    const upstream = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
    if (upstream === undefined) continue;
    const under: Report = (path, finding) => report(['upstreams', name, ...path], finding);
    checkTwice(upstream, under);
    checkIdle(upstream, under);
  }
}

function checkTwice({ targets = [] }: UpstreamParts, report: Report): void {
  for (const [index, target] of targets.entries()) {
    if (targets.indexOf(target) === index) continue;
    report(['targets', index], { rule: 'targets', message: 'this target stands here twice' });
  }
}

function checkIdle({ targets, balance, breaker, health, slow_start }: UpstreamParts, report: Report): void {
  const idle = (key: string, why: string) =>
    report([key], {
      rule: 'targets',
      severity: 'warning',
      message: `${key} does nothing ${why}`,
      at: 'key',
    });
  if (targets?.length === 1) {
    if (balance !== undefined) idle('balance', 'with one target');
    if (slow_start !== undefined) idle('slow_start', 'with one target');
  } else if (slow_start !== undefined && breaker === 'off' && health === undefined) {
    idle('slow_start', 'where neither health nor a breaker ever takes a target out');
  }
}
