// Maps one address written by a service to the address that a client uses through the gateway.

import { LOOPBACK } from '../../plan/grammar/addresses.ts';
import type { UpstreamPlan } from '../../plan/plan.ts';
import { serverKey, serverName } from '../../plan/upstreams/upstream-places.ts';
import { decodeUnreserved } from '../../policy/octets.ts';
import { withoutParameter, withParameter } from '../../policy/versioning/query.ts';
import type { ClientPlace } from './client-place.ts';

export interface AddressMapping {
  readonly own: OwnAddresses;
  /** The X-Forwarded-Host that the service received, with the port as sent. */
  readonly forwardedHost: string;
  /** The URL sent to the service, on `STAND_IN`: the base of relative addresses. */
  readonly requestUrl: string;
  readonly servicePath: UpstreamPlan['path'];
  readonly clientUrl: string;
  /** Replaces the path of the service; empty for the root. */
  readonly clientPath: string;
  readonly clientOrigin: string;
  readonly parameter: { readonly name: string; readonly value: string } | undefined;
  readonly inside: ClientPlace['inside'];
  /** Counts service addresses outside the path of the service, and nested ones that cannot name their version. */
  outside: number;
}

/** Replaces the origin of the service. RFC 2606 reserves `.invalid`, so no host has this name. */
export const STAND_IN = 'http://service.invalid';
const STAND_IN_HOST = 'service.invalid';

const NON_ASCII = /[\x80-\xff]/g;
/** An address such as `http:path`, with or without a host depending on the scheme of its base. */
const UNCLEAR = /^(?:https?|wss?):(?!\/\/)/i;
const BASES: readonly string[] = ['http://client.invalid', 'https://client.invalid'];
/** A path that a URL parser does not change, with query and fragment. Most addresses match. */
const PLAIN =
  /^((?:\/[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@-]*)+\/?)(\?[\w.~!$&()*+,;=:@/?%-]+)?(#[\w.~!$&()*+,;=:@/?%-]+)?$/;
const WEB = /^(?:http|ws)s?:$/;

/**
 * Returns addresses of other origins byte for byte, and also those that need no change. Undefined if a service address
 * cannot be mapped: its scheme is not http(s) or ws(s), or it is not a URL.
 */
export function mapAddress(address: string, mapping: AddressMapping): string | undefined {
  const text = address
    .trim()
    .replaceAll('\t', '')
    .replace(NON_ASCII, (byte) => encodeByte(byte.charCodeAt(0)));
  // Refers to the client's own URL. The test ignores tabs, as clients do.
  if (text === '' || text.startsWith('#')) return address;
  const url =
    readPlain(text, mapping.own) ?? (UNCLEAR.test(text) ? null : URL.parse(text, mapping.requestUrl));
  if (url === null) return containsService(text, mapping.own) ? undefined : address;
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
  // HTTP/2 may join two lines of one name, so the value may hold a second address. An address has `//`, a path such
  // as /batch:orders has not.
  if (at.includes('//') && mapping.own.isContainedIn(at)) return undefined;
  if (isRelative) {
    if (search === url.search && at === pathAsWritten(text, path, mapping)) return address;
    // A client would read a host after two slashes.
    if (!at.startsWith('//')) return at + search + url.hash;
  }
  const whole = (at.startsWith('/') ? mapping.clientOrigin : '') + at + search + url.hash;
  return url.protocol.startsWith('ws') ? whole.replace(/^http/, 'ws') : whole;
}

const RELATIVE: ServiceOrigin = { origin: '', protocol: 'http:', hostname: STAND_IN_HOST, port: '' };

type ReadAddress = Pick<URL, 'protocol' | 'hostname' | 'port' | 'pathname' | 'search' | 'hash'>;

/** The result of a URL parser for plain addresses. Undefined: a URL parser is needed. */
function readPlain(text: string, { origins }: OwnAddresses): ReadAddress | undefined {
  const at = text.startsWith('/') ? RELATIVE : origins.find(({ origin }) => text.startsWith(origin));
  if (at === undefined) return undefined;
  const [, pathname, search = '', hash = ''] = PLAIN.exec(text.slice(at.origin.length)) ?? [];
  if (pathname === undefined) return undefined;
  return { protocol: at.protocol, hostname: at.hostname, port: at.port, pathname, search, hash };
}

function pathAsWritten(text: string, path: string, { clientUrl }: AddressMapping): string | undefined {
  if (text.startsWith('/')) return path;
  const url = URL.parse(text, clientUrl);
  return url === null ? undefined : decodeUnreserved(url.pathname);
}

/** The client's path for a path of the service, on segment boundaries. Undefined outside the path of the service. */
export function mapPath(path: string, places: BasePaths): string | undefined {
  const { clientPath } = places;
  const tail = tailOf(path, places);
  if (tail !== undefined) return clientPath + tail || '/';
  return clientPath !== '' && isBelow(path, clientPath) ? path : undefined;
}

type BasePaths = Pick<AddressMapping, 'servicePath' | 'clientPath'>;

/** Undefined outside the path of the service, and for a path of the client. */
function tailOf(path: string, { servicePath, clientPath }: BasePaths): string | undefined {
  // If both prefixes match, the longer one is meant: the service may know its public path.
  if (clientPath.length > servicePath.length && isBelow(path, clientPath)) return undefined;
  return isBelow(path, servicePath) ? path.slice(servicePath.length) : undefined;
}

function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
}

function containsService(text: string, own: OwnAddresses): boolean {
  return (
    own.isContainedIn(text) ||
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
  /** Ignores the scheme, because services behind a proxy often write the wrong one. */
  readonly has: (url: HostAndPort) => boolean;
  readonly origins: readonly ServiceOrigin[];
  /** Whether a text that is not a valid URL contains one of the addresses. */
  readonly isContainedIn: (text: string) => boolean;
  /** Host names in lower case, without port. */
  readonly hosts: readonly string[];
}

export type ServiceOrigin = HostAndPort & Pick<URL, 'origin' | 'protocol'>;
/** As in a URL: without the default port of the scheme. */
type HostAndPort = Pick<URL, 'hostname' | 'port'>;

const made = new WeakMap<UpstreamPlan, OwnAddresses>();

export function ownAddresses(upstream: UpstreamPlan): OwnAddresses {
  const known = made.get(upstream);
  if (known !== undefined) return known;
  const own = makeOwnAddresses(upstream);
  made.set(upstream, own);
  return own;
}

function hostPortKey(text: string): string {
  const colon = text.lastIndexOf(':');
  if (colon < text.lastIndexOf(']') || colon < 0) return serverKey({ hostname: text, port: '' });
  return serverKey({ hostname: text.slice(0, colon), port: String(Number(text.slice(colon + 1))) });
}

function makeOwnAddresses({ targets, host }: Pick<UpstreamPlan, 'targets' | 'host'>): OwnAddresses {
  const reached = targets.map(({ origin }) => new URL(origin));
  const named = host === undefined ? [] : [new URL(`http://${host}`)];
  // nginx writes the requested host with its own listening port.
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
    isContainedIn: (text) => shown.test(text.replace(/\[[\da-f:.]+\]/gi, serverName)),
    hosts: [...new Set(all.flatMap(({ hostname }) => namesOf(hostname)))],
  };
}

function namesOf(hostname: string): readonly string[] {
  const name = serverName(hostname);
  return [...(name === 'localhost' ? LOOPBACK : [name]), hostname];
}
