// Checks `cost`: every limit of a request must be able to admit it, in every stage.
import type { Limit, LimitRule } from '../../policy/rate-limit/limit.ts';
import { effectiveSunset } from '../schedule/redirects.ts';
import type { PolicyView, Report } from '../view.ts';
import { compileLimits } from './compile.ts';

type VersionView = PolicyView['versions'] extends ReadonlyMap<string, infer V> ? V : never;
type OperationView = NonNullable<VersionView['operations']>[string];

export function checkCosts(view: PolicyView, report: Report): void {
  for (const [label, version] of view.versions) {
    for (const [name, operation] of Object.entries(version.operations ?? {})) {
      const { cost } = operation;
      if (cost === undefined) continue;
      const path = ['versions', label, 'operations', name, 'cost'];
      const rules = limitsOf(view, version, name, operation);
      if (rules.length === 0) {
        const message = 'cost has no effect without a limit';
        report(path, { rule: 'limits', severity: 'warning', message, at: 'key' });
      }
      const isLowered = (operation.deprecated ?? version.deprecated) !== undefined;
      for (const rule of rules) {
        const found = insufficientBurst(rule, cost, isLowered);
        // A shadow limit refuses nothing, but would report every request.
        const severity = rule.shadow ? 'warning' : 'error';
        if (found !== undefined) report(path, { rule: 'limits', severity, ...found });
      }
    }
  }
}

/** All limits of a request to the operation, inherited ones included. */
function limitsOf(
  { parts: { limits, access = 'public' } }: PolicyView,
  version: VersionView,
  name: string,
  operation: OperationView,
): readonly LimitRule[] {
  const compiled = compileLimits(
    { api: '', limits, access },
    {
      label: '',
      version: version.limits,
      schedule: {
        deprecated: operation.deprecated ?? version.deprecated,
        sunset: operation.sunset ?? effectiveSunset(version),
      },
      operation: { name, limits: operation.limits, hasDates: false, cost: operation.cost },
    },
  );
  return compiled?.each ?? [];
}

function insufficientBurst(
  { active, deprecated, curve }: LimitRule,
  cost: number,
  isLowered: boolean,
): { readonly message: string; readonly hint: string } | undefined {
  if (active.burst < cost) {
    const what = active.algorithm === 'sliding-log' ? 'rate' : 'burst';
    return {
      message: `${describeBurst(active)}: every request with this cost is refused`,
      hint: `write a ${what} of at least ${cost}, or a cost of at most ${active.burst}`,
    };
  }
  const last = curve?.steps.at(-1) ?? deprecated;
  if (!isLowered || last.burst >= cost) return undefined;
  const since = deprecated.burst < cost ? 'once deprecated' : 'by the sunset';
  return {
    message: `${since}, ${describeBurst(last)}: every request with this cost is refused`,
    hint: `write a lowered limit of at least ${cost}, or a cost of at most ${last.burst}`,
  };
}

function describeBurst({ name, burst, algorithm }: Limit): string {
  return `limit ${name} admits ${burst} ${algorithm === 'sliding-log' ? 'in any window' : 'at once'}`;
}
