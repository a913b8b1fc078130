// What a milestone is called wherever it is announced: the same on every gateway and after every restart.
// The day it speaks of is part of it, so that another day is another milestone.
import type { EpochMs } from '../contract.ts';
import { dateInWords } from '../notation.ts';
import { isOfWholeApi } from './api-life.ts';
import type { Milestone } from './milestones.ts';

/** `orders/v1/sunset-30d/2027-04-15`; of an operation, and of an API without versions: `orders/GET%20%2Fsearch/sunset/…`. */
export function milestoneId(milestone: Milestone): string {
  const { api, label, operation, schedule } = milestone.life;
  const place = [
    api,
    ...(isOfWholeApi(schedule) ? [] : [label]),
    ...(operation === undefined ? [] : [operation]),
  ];
  const [what, day] = whatAndDay(milestone);
  return [...place.map(encodeURIComponent), what, dateInWords(day)].join('/');
}

function whatAndDay(milestone: Milestone): readonly [string, EpochMs] {
  switch (milestone.kind) {
    case 'deprecation':
      return ['deprecated', milestone.deprecated];
    case 'extension':
      return ['extended', milestone.to];
    case 'brownouts':
      return ['brownouts', milestone.from];
    case 'approaching':
      return [`sunset-${milestone.days}d`, milestone.sunset];
    case 'released':
    case 'sunset':
    case 'retired':
      return [milestone.kind, milestone.at];
    default:
      return milestone satisfies never;
  }
}
