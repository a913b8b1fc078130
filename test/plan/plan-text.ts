// Prints a plan as JSON for golden files: maps and sets as objects, no functions, instants as dates.

import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { FIELD } from '../../gateway/plan/upstreams/answer-fields.ts';

const INSTANTS = new Set([
  'announced',
  'released',
  'deprecated',
  'sunset',
  'retired',
  'forgotten',
  'freeze',
  'published',
  'to',
  'from',
  'until',
  'knownUntil',
]);

export function planText(plan: GatewayPlan): string {
  const { revision: _revision, routes: _routes, ...rest } = plan;
  return `${JSON.stringify(rest, readable, 2)}\n`;
}

/** The order of an API and of version rules in golden files. */
const API =
  'name mode cors echo upstreamWins hosts paths base pathRules inside hasOperations locations resolution rewriteContentType deprecatedMaxAge hasBodyNotice shared unknownVersionStatus access headers versions releases versionFields vary versionHeaders keyHeaders contacts guides isLeftOut'.split(
    ' ',
  );
const VERSION =
  'api label operation operations schedule phases exceptions brownouts limits freeze retireWhen maintenance bodyNotice maxBody notes access vary idempotency upstream place predecessors successorPath successorTail redirects earlier'.split(
    ' ',
  );

function inOrder(value: object): object {
  const order = 'versionHeaders' in value ? API : 'predecessors' in value ? VERSION : [];
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => place(a) - place(b)));
}

function readable(key: string, value: unknown): unknown {
  // Most policies have no contacts.
  if (key === 'contacts' && value instanceof Map && value.size === 0) return undefined;
  // Before an announcement, only the dates differ.
  if (key === 'earlier' && Array.isArray(value))
    return value.map(({ knownUntil, schedule, brownouts }) => ({ knownUntil, schedule, brownouts }));
  // Without the fields that are the same for every upstream.
  if (key === 'answerFields' && value instanceof Map) {
    const edited = [...value].filter(([, kinds]) => (kinds & FIELD.edited) !== 0).map(([name]) => name);
    return edited.length === 0 ? undefined : edited;
  }
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  // Most policies have no guide from a file.
  if (key === 'guides' && Array.isArray(value) && value.length === 0) return undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return inOrder(value);
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) return String(value);
  return INSTANTS.has(key) ? Temporal.Instant.fromEpochMilliseconds(value).toString() : value;
}
