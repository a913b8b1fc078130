// From verified claims to the consumer: one stable id and the scopes it holds.
// Called by the verifiers once per token; the result is cached with it.
import { type IdPrefixes, idNamed } from '../notation.ts';
import type { Consumer } from './access.ts';

/** Claims that name an application, a set an operator knows, and so may label a metric. */
const APPLICATION_CLAIMS: ReadonlySet<string> = new Set(['client_id', 'azp']);

/**
 * The consumer named by the first of `claimNames` that the token has. Undefined when it has none of them, or when that
 * claim cannot be an id, or is one that another identity gives: passing on to the next claim would let a token choose who it is counted as.
 */
export function consumerFrom(
  claims: Readonly<Record<string, unknown>>,
  claimNames: readonly string[],
  prefixes?: IdPrefixes,
): Consumer | undefined {
  const name = claimNames.find((candidate) => Object.hasOwn(claims, candidate));
  if (name === undefined) return undefined;
  const named = claims[name];
  const id = typeof named === 'string' ? idNamed(named, prefixes) : undefined;
  if (id === undefined) return undefined;
  const scopes = scopesOf(claims.scope);
  return { id, named: APPLICATION_CLAIMS.has(name), via: 'token', scopes, claims, prefixes };
}

/** JWT-7: one string, scopes separated by spaces, compared whole and by case. An array is not accepted. */
function scopesOf(scope: unknown): ReadonlySet<string> {
  if (typeof scope !== 'string') return new Set();
  return new Set(scope.split(' ').filter((word) => word !== ''));
}
