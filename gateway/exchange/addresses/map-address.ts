// One address that a service wrote, as its client has to write it to get there through the gateway; and which are the service's own.

import { LOOPBACK } from '../../plan/grammar/addresses.ts';
import type { UpstreamPlan } from '../../plan/plan.ts';
import { serverKey, serverName } from '../../plan/upstreams/upstream-places.ts';
import { decodeUnreserved } from '../../policy/octets.ts';
import { withoutParameter, withParameter } from '../../policy/versioning/query.ts';
import type { ClientPlace } from './client-place.ts';

/** Where the client of one request and the service behind have the same resources. */
export interface AddressMapping {
  readonly own: OwnAddresses;
  /** The host that the service was told its client had asked for; with a port, as sent. */
  readonly forwardedHost: string;
  /** What the service was asked for, on `STAND_IN`: relative addresses start here. */
  readonly requestUrl: string;
  readonly servicePath: UpstreamPlan['path'];
  readonly clientUrl: string;
  /** What replaces the path of the service; empty for the root. */
  readonly clientPath: string;
  readonly clientOrigin: string;
  /** What the client named the version by in its query. */
  readonly parameter: { readonly name: string; readonly value: string } | undefined;
  readonly inside: ClientPlace['inside'];
  /** Addresses of the service outside its path, counted here; and those inside a version that they cannot name. */
  outside: number;
}

/** Stands for the service, whatever its targets are called. RFC 2606: no name ends so. */
export const STAND_IN = 'http://service.invalid';
const STAND_IN_HOST = 'service.invalid';

const NON_ASCII = /[\x80-\xff]/g;
/** Names a host or none, by the scheme of what the client asked for. */
const UNCLEAR = /^(?:https?|wss?):(?!\/\/)/i;
const BASES: readonly string[] = ['http://client.invalid', 'https://client.invalid'];
/** A path that a URL parser would leave as it is, and what follows it: most addresses are no more. */
const PLAIN =
  /^((?:\/[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@-]*)+\/?)(\?[\w.~!$&()*+,;=:@/?%-]+)?(#[\w.~!$&()*+,;=:@/?%-]+)?$/;
const WEB = /^(?:http|ws)s?:$/;

/**
 * Other origins come back byte for byte, and so does what leads to the right place as it is. Undefined for an address of
 * the service that cannot be mapped: another scheme than http(s) and ws(s), or no URL.
 */
export function mapAddress(address: string, mapping: AddressMapping): string | undefined {
  const text = address
    .trim()
    .replaceAll('\t', '')
    .replace(NON_ASCII, (byte) => encodeByte(byte.charCodeAt(0)));
  // The client's own URL, whatever that is. Tabs are left out as clients leave them out.
  if (text === '' || text.startsWith('#')) return address;
  const url =
    readPlain(text, mapping.own) ?? (UNCLEAR.test(text) ? null : URL.parse(text, mapping.requestUrl));
  if (url === null) return showsService(text, mapping.own) ? undefined : address;
  const isRelative = url.hostname === STAND_IN_HOST && !text.includes(STAND_IN_HOST);
  if (!isRelative && !isOwn(url, mapping)) return address;
  if (!WEB.test(url.protocol)) return mapping.own.has(url) ? undefined : address;

  const path = decodeUnreserved(url.pathname);
  const inner = tailOf(path, mapping) === undefined ? undefined : mapping.inside?.(path);
  const mapped = inner?.path ?? mapPath(path, mapping);
  if (mapped === undefined || inner?.isNamed === false) mapping.outside += 1;
  const { parameter } = inner ?? mapping;
  const search =
    mapped === undefined || parameter === undefined
      ? url.search
      : withParameter(withoutParameter(url.search, parameter.name), parameter.name, parameter.value);
  const at = mapped ?? path;
  // Two addresses in one, as HTTP/2 joins lines of one name. A path such as /batch:orders names no host.
  if (at.includes('//') && mapping.own.isShownIn(at)) return undefined;
  if (isRelative) {
    if (search === url.search && at === pathAsWritten(text, path, mapping)) return address;
    // With two slashes in front it would name a host.
    if (!at.startsWith('//')) return at + search + url.hash;
  }
  const whole = (at.startsWith('/') ? mapping.clientOrigin : '') + at + search + url.hash;
  return url.protocol.startsWith('ws') ? whole.replace(/^http/, 'ws') : whole;
}

const RELATIVE: ServiceOrigin = { origin: '', protocol: 'http:', hostname: STAND_IN_HOST, port: '' };

type ReadAddress = Pick<URL, 'protocol' | 'hostname' | 'port' | 'pathname' | 'search' | 'hash'>;

/** What a URL parser would say; undefined where one has to be asked. */
function readPlain(text: string, { origins }: OwnAddresses): ReadAddress | undefined {
  const at = text.startsWith('/') ? RELATIVE : origins.find(({ origin }) => text.startsWith(origin));
  if (at === undefined) return undefined;
  const [, pathname, search = '', hash = ''] = PLAIN.exec(text.slice(at.origin.length)) ?? [];
  if (pathname === undefined) return undefined;
  return { protocol: at.protocol, hostname: at.hostname, port: at.port, pathname, search, hash };
}

/** Where the client would get without any mapping; `path`: where the service meant. */
function pathAsWritten(text: string, path: string, { clientUrl }: AddressMapping): string | undefined {
  if (text.startsWith('/')) return path;
  const url = URL.parse(text, clientUrl);
  return url === null ? undefined : decodeUnreserved(url.pathname);
}

/** A path of the service at the client's place, on segment boundaries; undefined outside the path of the service. */
export function mapPath(path: string, places: BasePaths): string | undefined {
  const { clientPath } = places;
  const tail = tailOf(path, places);
  if (tail !== undefined) return clientPath + tail || '/';
  return clientPath !== '' && isBelow(path, clientPath) ? path : undefined;
}

type BasePaths = Pick<AddressMapping, 'servicePath' | 'clientPath'>;

/** What follows the path of the service; undefined outside it, and where the client's own is meant. */
function tailOf(path: string, { servicePath, clientPath }: BasePaths): string | undefined {
  // Of two that fit, the longer one is meant: the service may know where its clients find it.
  if (clientPath.length > servicePath.length && isBelow(path, clientPath)) return undefined;
  return isBelow(path, servicePath) ? path.slice(servicePath.length) : undefined;
}

function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
}

/** As any client might read it. */
function showsService(text: string, own: OwnAddresses): boolean {
  return (
    own.isShownIn(text) ||
    BASES.some((base) => {
      const read = URL.parse(text, base);
      return read !== null && own.has(read);
    })
  );
}

function isOwn(url: ReadAddress, { own, forwardedHost }: AddressMapping): boolean {
  return url.hostname === STAND_IN_HOST || own.has(url) || hostPortKey(forwardedHost) === serverKey(url);
}

function encodeByte(byte: number): string {
  return `%${byte.toString(16).toUpperCase()}`;
}

export interface OwnAddresses {
  /** Whatever the scheme: services behind a proxy often write the wrong one. */
  readonly has: (url: HostAndPort) => boolean;
  /** Of the targets, as most services write them. */
  readonly origins: readonly ServiceOrigin[];
  /** Whether one of them stands in a text that is no sound URL. */
  readonly isShownIn: (text: string) => boolean;
  /** Host names in lower case, without port. */
  readonly hosts: readonly string[];
}

export type ServiceOrigin = HostAndPort & Pick<URL, 'origin' | 'protocol'>;
/** As a URL has them: without the default port of its scheme. */
type HostAndPort = Pick<URL, 'hostname' | 'port'>;

const made = new WeakMap<UpstreamPlan, OwnAddresses>();

export function ownAddresses(upstream: UpstreamPlan): OwnAddresses {
  const known = made.get(upstream);
  if (known !== undefined) return known;
  const own = makeOwnAddresses(upstream);
  made.set(upstream, own);
  return own;
}

/** The key of the server that a Host field names. */
function hostPortKey(text: string): string {
  const colon = text.lastIndexOf(':');
  if (colon < text.lastIndexOf(']') || colon < 0) return serverKey({ hostname: text, port: '' });
  return serverKey({ hostname: text.slice(0, colon), port: String(Number(text.slice(colon + 1))) });
}

function makeOwnAddresses({ targets, host }: Pick<UpstreamPlan, 'targets' | 'host'>): OwnAddresses {
  const reached = targets.map(({ origin }) => new URL(origin));
  const named = host === undefined ? [] : [new URL(`http://${host}`)];
  // nginx writes the host that it was asked for with the port that it listens on.
  const withPorts = named.flatMap(({ hostname }) => reached.map(({ port }) => ({ hostname, port })));
  const all = [...reached, ...named, ...withPorts];
  const keys = new Set(all.map(serverKey));
  const spelled = all.flatMap(({ hostname, port }) =>
    namesOf(hostname).map((name) => `${RegExp.escape(name)}\\.?${port === '' ? '' : `:${port}`}`),
  );
  const shown = new RegExp(`(?:[/\\\\]{2}|:[/\\\\]?|@)(?:${spelled.join('|')})(?![\\w.-])`, 'i');
  return {
    origins: reached.map(({ origin, protocol, hostname, port }) => ({ origin, protocol, hostname, port })),
    has: (url) => keys.has(serverKey(url)),
    isShownIn: (text) => shown.test(text.replace(/\[[\da-f:.]+\]/gi, serverName)),
    hosts: [...new Set(all.flatMap(({ hostname }) => namesOf(hostname)))],
  };
}

function namesOf(hostname: string): readonly string[] {
  const name = serverName(hostname);
  return [...(name === 'localhost' ? LOOPBACK : [name]), hostname];
}
