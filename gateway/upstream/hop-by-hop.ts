// Which fields belong to one connection only (RFC 9110 §7.6.1), and the Via field that each hop adds to (FWD-6, FWD-7).
// The same for both directions of forwarding.
import { PSEUDONYM } from '../exchange/error-body.ts';

/**
 * Lower-case names a Connection field nominates, or undefined when there are none worth removing:
 * the usual `keep-alive` and `close` name no field that is not removed anyway (FWD-1).
 */
export function nominated(
  connection: string | readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (connection === undefined) return undefined;
  const value = typeof connection === 'string' ? connection : connection.join(',');
  if (value === 'keep-alive' || value === 'close') return undefined;
  const names = new Set<string>();
  for (const token of value.split(',')) {
    const name = token.trim().toLowerCase();
    if (name !== '') names.add(name);
  }
  return names;
}

/** How often a request may have been here before: gateways of the same name may stand one behind another. */
export const MOST_TIMES_HERE = 3;

// A hop's name ends at a blank, a comma or a comment; a longer name that begins with ours is another's.
const HERE = new RegExp(`(?:^|,)[ \\t]*[^ \\t,]+[ \\t]+${PSEUDONYM}(?=[ \\t,(]|$)`, 'gi');

/** `via` with this hop appended; `version` is that of the message received. */
export function appendVia(via: string | readonly string[] | undefined, version: string): string {
  const own = `${version} ${PSEUDONYM}`;
  return via === undefined ? own : `${typeof via === 'string' ? via : via.join(', ')}, ${own}`;
}

/** How many hops of `via` are this gateway. */
export function timesHere(via: string | undefined): number {
  if (via === undefined) return 0;
  return via.match(HERE)?.length ?? 0;
}
