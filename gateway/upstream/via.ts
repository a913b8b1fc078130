// The Via field of both directions, and how a request that goes round in circles shows in it (FWD-6, FWD-7).
// Read before a request is sent on; written by the two files that clean header sections.
import { PSEUDONYM } from '../exchange/error-body.ts';

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
