// Whether the Host of an admin request can be meant for this listener.
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
