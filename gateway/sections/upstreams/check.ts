// Checks `upstreams`: one per version, valid targets, and keys without effect.
import { portOf, reaches } from '../../plan/grammar/addresses.ts';
import { suggestOrList } from '../../plan/read/shape-issues.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { parseLabel } from '../../policy/versioning/label.ts';
import type { UpstreamFile } from '../policy-file.ts';
import { hasSunset } from '../schedule/redirects.ts';
import { type CheckContext, isWritten, type PolicyView, type Report } from '../view.ts';
import { DEFAULT_TIMEOUTS } from './compile.ts';

type UpstreamParts = { readonly [K in keyof UpstreamFile]?: UpstreamFile[K] | undefined };

export function checkUpstreams(view: PolicyView, context: CheckContext, report: Report): void {
  checkUpstreamsPerVersion(view, context.now, report);
  checkAddresses(view, context, report);
  checkTargets(view, report);
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
  if (view.labels.length === 0) return;
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

function checkAddresses(view: PolicyView, context: CheckContext, report: Report): void {
  for (const name of view.upstreamNames) {
    const upstreams = view.parts.upstreams ?? {};
    const upstream = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
    for (const [index, target] of (upstream?.targets ?? []).entries()) {
      const path = ['upstreams', name, 'targets', index];
      const listener = context.listeners.find(({ address }) => reaches(target, address));
      if (new URL(target).port === '0') {
        report(path, {
          rule: 'target',
          message: 'port 0 is not a port of a service',
          hint: 'write the port of the service',
        });
      } else if (listener !== undefined) {
        report(path, {
          rule: 'loop',
          message: `this target is the ${listener.name} listener of this gateway`,
        });
      } else if (context.public !== undefined && sameOrigin(target, context.public)) {
        report(path, { rule: 'loop', message: 'this target is the public address of this gateway' });
      }
    }
    const timeout = upstream?.timeout;
    const written = typeof timeout === 'object' ? timeout : { headers: timeout };
    const { connect = 0, headers = DEFAULT_TIMEOUTS.headers, total = DEFAULT_TIMEOUTS.total } = written;
    const longer = headers > total ? 'for headers' : connect > total ? 'to connect' : undefined;
    if (longer !== undefined) {
      const unwritten = headers > total && written.headers === undefined;
      const message = `the timeout ${longer}${unwritten ? `, ${headers / 1_000}s by default,` : ''} is longer than the total`;
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
    checkDuplicates(upstream, under);
    checkUnusedKeys(upstream, under);
  }
}

function checkDuplicates({ targets = [] }: UpstreamParts, report: Report): void {
  for (const [index, target] of targets.entries()) {
    if (targets.indexOf(target) === index) continue;
    report(['targets', index], { rule: 'targets', message: 'this target is listed twice' });
  }
}

function checkUnusedKeys(
  { targets, balance, breaker, health, slow_start }: UpstreamParts,
  report: Report,
): void {
  const reportUnused = (key: string, why: string) =>
    report([key], {
      rule: 'targets',
      severity: 'warning',
      message: `${key} has no effect ${why}`,
      at: 'key',
    });
  if (targets?.length === 1) {
    if (balance !== undefined) reportUnused('balance', 'with one target');
    if (slow_start !== undefined) reportUnused('slow_start', 'with one target');
  } else if (slow_start !== undefined && breaker === 'off' && health === undefined) {
    reportUnused('slow_start', 'without health checks or a breaker');
  }
}
