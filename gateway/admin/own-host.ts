// Whether an admin request can be meant for this listener, by its Host, and for writes by the page that sent it.
// A page elsewhere can point a name of its own at 127.0.0.1 (DNS rebinding); it cannot give up having a name.
import { isIP } from 'node:net';

const NAME_AND_PORT = /^(\[[^\]]+\]|[^:[\]]+)(?::\d{1,5})?$/;

/** True for IP literals, loopback names and the name this listener was bound by. `boundHost` may be an IP literal. */
export function isOwnHost(host: string | undefined, boundHost: string | undefined): boolean {
  const name = NAME_AND_PORT.exec(host ?? '')?.[1]?.toLowerCase();
  if (name === undefined) return false;
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  return name === 'localhost' || name.endsWith('.localhost') || name === boundHost?.toLowerCase();
}

/** What a browser says of the page behind a request; nothing of it comes from a command line. */
export interface PageFields {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
  readonly 'sec-fetch-mode'?: string | string[] | undefined;
}

/** Whether a browser says at all which page is behind a request. */
export function saysItsPage({ origin, 'sec-fetch-site': site }: PageFields): boolean {
  return origin !== undefined || site === 'same-origin';
}

/** False for a request that a page of another origin makes. The Host has passed `isOwnHost`. */
export function isFromOwnPage({ host, origin, 'sec-fetch-site': site }: PageFields): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || origin.toLowerCase() === `http://${host?.toLowerCase()}`;
}

/**
 * Whether a page of another origin asks for this behind the back of whoever looks at it: it cannot read the answer, and how
 * long that takes tells it who calls, and costs a look at the ledger each time. A link that is followed is no such thing.
 */
export function isForAForeignPage({ 'sec-fetch-site': site, 'sec-fetch-mode': mode }: PageFields): boolean {
  return (site === 'cross-site' || site === 'same-site') && mode !== 'navigate';
}
