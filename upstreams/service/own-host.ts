// Checks the Host of a request against DNS rebinding, and the origin of a form against CSRF.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const NAME_AND_PORT = /^(\[[^\]]+\]|[^:[\]]+)(?::\d{1,5})?$/;

/** True for IP literals, loopback names and `own`; false for a missing or repeated Host. */
export function isOwnHost({ headersDistinct }: IncomingMessage, own: readonly string[] = []): boolean {
  const [host = '', ...others] = headersDistinct.host ?? [];
  const name = NAME_AND_PORT.exec(host)?.[1]?.toLowerCase();
  if (name === undefined || others.length > 0) return false;
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  return name === 'localhost' || name.endsWith('.localhost') || own.includes(name);
}

/**
 * Whether a page of another site sent this form. `own` is the origin of our pages. They have no referrer, so browsers send
 * `Origin: null` with their forms. Such a form counts as ours unless `Sec-Fetch-Site` says otherwise; cookies are SameSite. Other
 * clients send neither header.
 */
export function isCrossSite({ headers }: IncomingMessage, own: string): boolean {
  const { origin = 'null' } = headers;
  if (origin !== 'null' && origin.toLowerCase() !== own.toLowerCase()) return true;
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
