// Checks of what an upstream says of its targets: each stands once, and no key is left without anything to do.
// Part of the cross checks of one policy file.
import type { UpstreamFile } from '../grammar/policy-grammar.ts';
import type { PolicyView, Report } from './views.ts';

type UpstreamParts = { readonly [K in keyof UpstreamFile]?: UpstreamFile[K] | undefined };

export function checkTargets(view: PolicyView, report: Report): void {
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
