// Which answers are kept for a key, and what of their header lines.
// Asked by the exchange as soon as an upstream has answered.
import type { FieldRecord } from '../contract.ts';
import type { IdempotencyRules } from './rules.ts';

/** They say that the request was not carried out, or may be later: with the same key it may come again (IDM-6). */
const NOT_CARRIED_OUT: ReadonlySet<number> = new Set([401, 403, 408, 409, 425, 429]);

/** Of one connection, one moment, one browser: they are not true of a replay (IDM-3, IDM-7). */
const NEVER_KEPT: ReadonlySet<string> = new Set([
  'set-cookie',
  'set-cookie2',
  'date',
  'age',
  'content-length',
  'authentication-info',
  'x-request-id',
  'idempotency-replayed',
  'ratelimit',
  'ratelimit-policy',
  // As drafts of before named them.
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]);

/** It has no end to wait for. */
const STREAM =
  /^\s*(?:text\/event-stream|application\/(?:x-ndjson|jsonl|json-seq)|multipart\/x-mixed-replace)\b/i;

/** `release`: no outcome, the key is free. `unkept`: an outcome that is more than is kept. */
export type Keeping = 'keep' | 'release' | 'unkept';

/** `headers`: by lower-case name, hop-by-hop fields gone. */
export function keepingOf(
  { serverErrors, maxAnswer }: Pick<IdempotencyRules, 'serverErrors' | 'maxAnswer'>,
  status: number,
  headers: FieldRecord,
): Keeping {
  if (NOT_CARRIED_OUT.has(status)) return 'release';
  if (status >= 500 && serverErrors === 'release') return 'release';
  if (Number(headers['content-length'] ?? 0) > maxAnswer) return 'unkept';
  const type = headers['content-type'];
  return typeof type === 'string' && STREAM.test(type) ? 'unkept' : 'keep';
}

/** A copy: what a client gets first may be edited after this. */
export function keptHeaders(headers: FieldRecord): Readonly<Record<string, string | readonly string[]>> {
  const kept: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !NEVER_KEPT.has(name)) kept[name] = value;
  return kept;
}
