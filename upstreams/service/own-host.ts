// Whether a request can be meant for a sample service: by its Host, and for forms by the page that sent them.
// A page elsewhere can point a name of its own at 127.0.0.1 (DNS rebinding); its Host then still is that name.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const NAME_AND_PORT = /^(\[[^\]]+\]|[^:[\]]+)(?::\d{1,5})?$/;

/** True for IP literals, loopback names and `own`; false where there is no Host, or more than one. */
export function isOwnHost({ headersDistinct }: IncomingMessage, own: readonly string[] = []): boolean {
  const [host = '', ...others] = headersDistinct.host ?? [];
  const name = NAME_AND_PORT.exec(host)?.[1]?.toLowerCase();
  if (name === undefined || others.length > 0) return false;
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  return name === 'localhost' || name.endsWith('.localhost') || own.includes(name);
}

/**
 * Whether a page of another site made the browser send this. `own` is the origin of our pages. They name no referrer, so that
 * a browser sends `Origin: null` with their forms; such a form is ours unless `Sec-Fetch-Site` says otherwise, and cookies
 * are SameSite. A client that is no browser sends neither field.
 */
export function isFromElsewhere({ headers }: IncomingMessage, own: string): boolean {
  const { origin = 'null' } = headers;
  if (origin !== 'null' && origin.toLowerCase() !== own.toLowerCase()) return true;
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
