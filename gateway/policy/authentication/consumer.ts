// From verified claims to the consumer: one stable id and the scopes it holds.
// Called by the verifiers once per token; the result is cached with it.
import type { Consumer } from './access.ts';

/** Claims that name an application, a set an operator knows, and so may label a metric. */
const APPLICATION_CLAIMS: ReadonlySet<string> = new Set(['client_id', 'azp']);

/** The id becomes part of bucket keys, log lines and reports. */
const LONGEST_ID = 256;

/** Control, format, unassigned and lone-surrogate characters, and the two separators that end a line. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/**
 * The consumer named by the first of `claimNames` that the token has. Undefined when it has none of them, or when that
 * claim cannot be an id: passing on to the next claim would let a token choose who it is counted as.
 */
export function consumerFrom(
  claims: Readonly<Record<string, unknown>>,
  claimNames: readonly string[],
): Consumer | undefined {
  const name = claimNames.find((candidate) => Object.hasOwn(claims, candidate));
  if (name === undefined) return undefined;
  const id = claims[name];
  if (typeof id !== 'string' || id === '' || id.length > LONGEST_ID || UNPRINTABLE.test(id)) return undefined;
  return { id, named: APPLICATION_CLAIMS.has(name), scopes: scopesOf(claims.scope) };
}

/** JWT-7: one string, scopes separated by spaces, compared whole and by case. An array is not accepted. */
function scopesOf(scope: unknown): ReadonlySet<string> {
  if (typeof scope !== 'string') return new Set();
  return new Set(scope.split(' ').filter((word) => word !== ''));
}
