// A header by which some services take another method than the one that rules, scopes and dates were judged for (ORD-2).
// A step of the pipeline.
import { keptFields, METHOD_OVERRIDES } from '../plan/client-fields.ts';
import type { ApiPlan } from '../plan/plan.ts';
import type { Refusal } from './directive.ts';
import type { RequestView } from './request-view.ts';

/** As an array, which is quicker to walk than a map. */
const OVERRIDES = [...METHOD_OVERRIDES];

type Asked = Pick<RequestView, 'method' | 'headers' | 'viaTrusted'>;

/** Refuses any method in it that is not the request's, in any letters, unless the API keeps the header. */
export function refuseOverride({ headers: rules }: ApiPlan, asked: Asked): Refusal | undefined {
  const { method, headers, viaTrusted } = asked;
  for (const [name, field] of OVERRIDES) {
    const value = headers.get(name);
    if (value === undefined || isMethod(value, method)) continue;
    if (!keptFields(rules, viaTrusted).includes(name)) return { reason: 'method_overridden', field, method };
  }
  return undefined;
}

/** Of several lines or a list services read the first or the last; empty members name nothing. */
function isMethod(list: string, method: string): boolean {
  return list
    .split(',')
    .map((each) => each.replace(/^[ \t]+|[ \t]+$/g, ''))
    .every((each) => each === '' || each.toUpperCase() === method);
}
