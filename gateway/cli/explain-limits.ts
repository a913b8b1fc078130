// The rows of `explain` for limits: one for each that a request counts against, with what it costs.
// Part of the decisions of explain-decisions.ts.
import type { VersionRules } from '../plan/plan.ts';
import type { Quota } from '../policy/rate-limit/limit.ts';
import { perWindow } from './decision-words.ts';
import type { Decision } from './explain-row.ts';
import type { WrittenLines } from './written-lines.ts';

export function limitRows(
  version: VersionRules,
  quotas: readonly Quota[],
  lines: Pick<WrittenLines, 'limit' | 'cost'>,
): readonly Decision[] {
  const cost = version.limits?.cost ?? 1;
  const rows = quotas.map(({ limit, rule }): Decision => {
    const exactly = limit.algorithm === 'sliding-log' ? ', in any window' : '';
    const burst = limit.burst === limit.units ? '' : `, ${limit.burst} at once`;
    const shadow = rule.shadow ? ', only counted: shadow' : '';
    return {
      step: 'limit',
      value: perWindow(limit),
      detail: `limit ${limit.name}, by ${rule.by}${burst}${exactly}${shadow}`,
      assumed: 'nothing counted yet',
      origin: lines.limit(version, limit),
    };
  });
  if (cost === 1) return rows;
  const detail = quotas.length === 1 ? 'units of the limit' : 'units of each limit';
  return [
    ...rows,
    { step: 'cost', value: String(cost), detail, assumed: undefined, origin: lines.cost(version) },
  ];
}
