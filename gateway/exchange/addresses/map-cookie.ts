// One Set-Cookie line of a service as its client can keep it: below the place where the client finds the service.
// Path and Domain alone are edited; every other byte stays.
import { hostKey } from '../../plan/route-table.ts';
import { type AddressMapping, mapPath } from './map-address.ts';

/** `hosts`: those of the service. A cookie for the whole host stays one, and so does `__Host-` (RFC 6265bis). */
export function mapCookie(
  line: string,
  places: Pick<AddressMapping, 'servicePath' | 'clientPath'>,
  names: { readonly hosts: readonly string[]; readonly publicHost: string },
): string {
  const parts = line.split(';');
  const isForHost = /^\s*__host-/i.test(line);
  const mapped = parts.flatMap((part, index) => {
    const equals = part.indexOf('=');
    if (index === 0 || equals < 0) return part;
    const value = part.slice(equals + 1).trim();
    switch (part.slice(0, equals).trim().toLowerCase()) {
      case 'path': {
        const path = isForHost || places.servicePath === '' ? undefined : mapPath(value, places);
        return path === undefined || path === value ? part : ` Path=${path}`;
      }
      case 'domain':
        return isInside(value, names) ? [] : part;
      default:
        return part;
    }
  });
  return mapped.join(';');
}

/** A domain that holds a host of the service and not the one that the client asked: no client takes such a cookie. */
function isInside(domain: string, { hosts, publicHost }: Parameters<typeof mapCookie>[2]): boolean {
  const name = domain
    .replaceAll('"', '')
    .toLowerCase()
    .replace(/^\./, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '');
  return hosts.some((host) => isWithin(host, name)) && !isWithin(publicHost, name);
}

function isWithin(host: string, domain: string): boolean {
  return hostKey(host) === hostKey(domain) || (domain !== '' && host.endsWith(`.${domain}`));
}
