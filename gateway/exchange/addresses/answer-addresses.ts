// Maps the addresses in an upstream's response to addresses that work for the client, in fields, links and cookies.
import { hostKey, originOn } from '../../plan/grammar/addresses.ts';
import { parameterValues } from '../../policy/versioning/query.ts';
import { HeaderLines, type HeaderValue } from '../answer-headers.ts';
import type { ForwardOrder } from '../directive.ts';
import { type ClientPlace, clientBasePathOf } from './client-place.ts';
import { type AddressMapping, mapAddress, mapPath, ownAddresses, STAND_IN } from './map-address.ts';

type Order = Pick<ForwardOrder, 'upstream' | 'target' | 'clientPlace'>;

/**
 * Edits the fields in place. Returns the number of service addresses outside the path of the service, which keep their
 * path on the public host. `forwardedHost`: the X-Forwarded-Host that the service received.
 */
export function mapAnswer(headers: HeaderLines, order: Order, forwardedHost: string): number {
  const { clientPlace } = order;
  if (clientPlace === undefined) return 0;
  const cookies = headers.get('set-cookie');
  if (cookies !== undefined) headers.set('set-cookie', eachLine(cookies, cookieMapper(order, clientPlace)));
  if (!holdsAddress(headers)) return 0;
  const { view, query, inside } = clientPlace;
  const named = query === undefined ? undefined : parameterValues(view.search, query)[0];
  const clientOrigin = originOn(clientPlace.public, view.host);
  const mapping: AddressMapping = {
    ...ofService(order, forwardedHost),
    clientUrl: clientOrigin + view.path,
    clientPath: clientBasePathOf(clientPlace),
    clientOrigin,
    parameter:
      query === undefined || named === undefined
        ? undefined
        : { name: query, value: encodeURIComponent(named) },
    inside,
  };
  mapFields(headers, mapping);
  return mapping.outside;
}

function cookieMapper({ upstream }: Order, clientPlace: ClientPlace): (line: string) => string {
  const places = { servicePath: upstream.path, clientPath: clientBasePathOf(clientPlace) };
  const { hosts } = ownAddresses(upstream);
  return (line) => mapCookie(line, places, { hosts, publicHost: clientPlace.view.host });
}

/**
 * A copy for a stored response, whose next client may use another host or path. `STAND_IN` replaces the addresses of
 * the service, and `mapAnswer` reads it as the service.
 */
export function addressesToKeep(headers: HeaderLines, order: Order, forwardedHost: string): HeaderLines {
  if (order.clientPlace === undefined || !holdsAddress(headers)) return headers;
  const service = ofService(order, forwardedHost);
  const kept = new HeaderLines(headers.record());
  mapFields(kept, {
    ...service,
    ...{ clientUrl: service.requestUrl, clientPath: service.servicePath, clientOrigin: STAND_IN },
    parameter: undefined,
    inside: undefined,
  });
  return kept;
}

function ofService(
  { upstream, target }: Order,
  forwardedHost: string,
): Pick<AddressMapping, 'own' | 'forwardedHost' | 'requestUrl' | 'servicePath' | 'outside'> {
  const own = ownAddresses(upstream);
  return { own, forwardedHost, requestUrl: STAND_IN + target, servicePath: upstream.path, outside: 0 };
}

type MapLine = (line: string, mapping: AddressMapping) => string | undefined;
/** Set-Cookie is missing: it holds only parts of an address. */
const MAPPERS: Readonly<Record<string, MapLine>> = {
  location: mapAddress,
  'content-location': mapAddress,
  refresh: mapRefresh,
  link: mapLinks,
};

function holdsAddress(headers: HeaderLines): boolean {
  return Object.keys(MAPPERS).some((name) => headers.get(name) !== undefined);
}

function mapFields(headers: HeaderLines, mapping: AddressMapping): void {
  for (const [name, map] of Object.entries(MAPPERS)) {
    const value = headers.get(name);
    if (value === undefined) continue;
    const mapped = eachLine(value, (line) => map(line, mapping));
    headers.set(name, mapped.length === 0 && typeof mapped !== 'string' ? undefined : mapped);
  }
}

function eachLine(value: HeaderValue, map: (line: string) => string | undefined): HeaderValue {
  if (typeof value === 'string') return map(value) ?? [];
  return value.flatMap((line) => map(line) ?? []);
}

/** Seconds, then the address: with or without quotes and `url=` (HTML, shared declarative refresh steps). */
const REFRESH = /^(\s*[\d.]+\s*[;,]?\s*(?:url\s*=\s*)?)(["']?)(.*)$/i;

function mapRefresh(line: string, mapping: AddressMapping): string | undefined {
  const [, before, quote = '', rest = ''] = REFRESH.exec(line) ?? [];
  if (before === undefined) return mapping.own.isContainedIn(line) ? undefined : line;
  if (rest === '') return line;
  const end = quote === '' ? -1 : rest.indexOf(quote);
  const address = end < 0 ? rest : rest.slice(0, end);
  const mapped = mapAddress(address, mapping);
  // Text after the closing quote is not part of the address, and no client reads it.
  return mapped === undefined ? undefined : before + quote + mapped + (end < 0 ? '' : quote);
}

const LINK_VALUE = /^(\s*<)([^>]*)(>)(.*)$/s;
const ANCHOR = /(;\s*anchor\s*=\s*")([^"\\]*)(?=")/gi;

/** Undefined if no link is left. A link that would show an address of the service is removed. */
function mapLinks(line: string, mapping: AddressMapping): string | undefined {
  const mapped = linkValues(line).flatMap((value) => mapLink(value, mapping) ?? []);
  return mapped.length === 0 ? undefined : mapped.join(',').trimStart();
}

function mapLink(value: string, mapping: AddressMapping): string | undefined {
  const [, open, target, close, parameters] = LINK_VALUE.exec(value) ?? [];
  if (target === undefined) return mapping.own.isContainedIn(value) ? undefined : value;
  const mapped = mapAddress(target, mapping);
  if (mapped === undefined) return undefined;
  const rest = parameters?.replace(ANCHOR, (whole, before: string, anchor: string) => {
    const there = mapAddress(anchor, mapping);
    return there === undefined ? whole : before + there;
  });
  return rest !== undefined && mapping.own.isContainedIn(rest)
    ? undefined
    : `${open}${mapped}${close}${rest}`;
}

/** The list members, blanks included. A comma in a target or in a quoted string separates nothing. */
function linkValues(line: string): readonly string[] {
  const values: string[] = [];
  let start = 0;
  let inTarget = false;
  let inString = false;
  for (let index = 0; index < line.length; index += 1) {
    const character = line[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (inTarget) inTarget = character !== '>';
    else if (character === '"') inString = true;
    else if (character === '<') inTarget = true;
    else if (character === ',') {
      values.push(line.slice(start, index));
      start = index + 1;
    }
  }
  values.push(line.slice(start));
  return values;
}

/** `hosts`: of the service. A cookie for the whole host stays one, and `__Host-` keeps its path (RFC 6265bis). */
function mapCookie(
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

/** Whether the domain covers a host of the service but not the public host. Clients reject such a cookie. */
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
