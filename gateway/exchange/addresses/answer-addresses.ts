// The fields of an upstream's answer that hold addresses, each mapped to where the client finds the service.
// Called for every answer of an upstream before the policy and the gateway add lines of their own.
import { originOn } from '../../plan/api-routes.ts';
import { parameterValues } from '../../policy/versioning/query.ts';
import { HeaderLines, type HeaderValue } from '../answer-headers.ts';
import type { ForwardOrder } from '../directive.ts';
import { type ClientPlace, clientPathOf } from './client-place.ts';
import { mapLinks } from './link-targets.ts';
import { type AddressMapping, mapAddress, STAND_IN } from './map-address.ts';
import { mapCookie } from './map-cookie.ts';
import { ownAddresses } from './own-addresses.ts';

type Order = Pick<ForwardOrder, 'upstream' | 'target' | 'clientPlace'>;

/**
 * Edits the fields in place. Returns how many addresses of the service lie outside its path: they lead to the same path on
 * the public host. `forwardedHost`: what the service was told in X-Forwarded-Host.
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
    clientPath: clientPathOf(clientPlace),
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
  const places = { servicePath: upstream.path, clientPath: clientPathOf(clientPlace) };
  const { hosts } = ownAddresses(upstream);
  return (line) => mapCookie(line, places, { hosts, publicHost: clientPlace.view.host });
}

/**
 * A copy for an answer that is kept: whoever gets it again may come from elsewhere, and the service may have moved. Its own
 * addresses name `STAND_IN`, which `mapAnswer` takes for the service.
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

function holdsAddress(headers: HeaderLines): boolean {
  return (
    headers.get('location') !== undefined ||
    headers.get('link') !== undefined ||
    headers.get('content-location') !== undefined ||
    headers.get('refresh') !== undefined
  );
}

function mapFields(headers: HeaderLines, mapping: AddressMapping): void {
  mapField(headers, 'location', (line) => mapAddress(line, mapping));
  mapField(headers, 'content-location', (line) => mapAddress(line, mapping));
  mapField(headers, 'refresh', (line) => mapRefresh(line, mapping));
  mapField(headers, 'link', (line) => mapLinks(line, mapping));
}

function mapField(
  headers: HeaderLines,
  name: 'location' | 'content-location' | 'refresh' | 'link',
  map: (line: string) => string | undefined,
): void {
  const value = headers.get(name);
  if (value === undefined) return;
  const mapped = eachLine(value, map);
  headers.set(name, typeof mapped !== 'string' && mapped.length === 0 ? undefined : mapped);
}

function eachLine(value: HeaderValue, map: (line: string) => string | undefined): HeaderValue {
  if (typeof value === 'string') return map(value) ?? [];
  return value.flatMap((line) => map(line) ?? []);
}

/** Seconds, then the address: quoted or not, with `url=` or without (the shared declarative refresh steps of HTML). */
const REFRESH = /^(\s*[\d.]+\s*[;,]?\s*(?:url\s*=\s*)?)(["']?)(.*)$/i;

function mapRefresh(line: string, mapping: AddressMapping): string | undefined {
  const [, before, quote = '', rest = ''] = REFRESH.exec(line) ?? [];
  if (before === undefined) return mapping.own.isShownIn(line) ? undefined : line;
  if (rest === '') return line;
  const end = quote === '' ? -1 : rest.indexOf(quote);
  const written = end < 0 ? rest : rest.slice(0, end);
  const mapped = mapAddress(written, mapping);
  // What stands behind the closing quote is no part of any address, and no client reads it.
  return mapped === undefined ? undefined : before + quote + mapped + (end < 0 ? '' : quote);
}
