// Header fields that only the gateway may set, with the reason.
import { CARRIERS, NAMED_CARRIERS } from '../../policy/versioning/carriers.ts';
import { DEFAULT_VERSION_HEADER } from '../resolve/grammar.ts';
import type { PolicyView } from '../view.ts';

const FRAMING = 'connection framing';
const IDENTITY = 'the identity or address of the caller';
const LIFECYCLE = 'the lifecycle of the API';

const BOTH: Readonly<Record<string, string>> = {
  connection: FRAMING,
  'content-length': FRAMING,
  expect: FRAMING,
  'http2-settings': FRAMING,
  'keep-alive': FRAMING,
  'proxy-authenticate': FRAMING,
  'proxy-authorization': FRAMING,
  'proxy-connection': FRAMING,
  te: FRAMING,
  trailer: FRAMING,
  'transfer-encoding': FRAMING,
  upgrade: FRAMING,
  via: 'the proxies that forwarded the message',
  'x-request-id': 'the id of the request',
};
const REQUEST: Readonly<Record<string, string>> = {
  forwarded: IDENTITY,
  'x-real-ip': IDENTITY,
  'x-client-id': IDENTITY,
  'x-scopes': IDENTITY,
  proxy: IDENTITY,
  'accept-encoding': 'the codings of responses',
};
const RESPONSE: Readonly<Record<string, string>> = {
  'content-encoding': FRAMING,
  'content-range': FRAMING,
  date: 'the time of the response',
  deprecation: LIFECYCLE,
  sunset: LIFECYCLE,
  link: LIFECYCLE,
  warning: LIFECYCLE,
  'proxy-status': 'the cause of a failure',
  'strict-transport-security': 'the HTTPS policy',
  'retry-after': 'the time to retry',
  'idempotency-replayed': 'the mark of a replayed response',
  vary: 'the fields on which the response depends',
};
/** The gateway drops these from client requests, whether or not it sends them to an upstream. */
const DEFAULT_IDENTITY_HEADERS: ReadonlySet<string> = new Set(['x-client-id', 'x-scopes']);
const REQUEST_FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(?:x-forwarded-|x-client-cert|client-cert|x-user-)/, IDENTITY],
  [/^(?:sec-websocket-)/, FRAMING],
];
const RESPONSE_FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(?:x-ratelimit-|ratelimit)/, 'the limits of the caller'],
  [/^x-api-/, LIFECYCLE],
  [/^access-control-/, 'the CORS rules, which cors sets'],
  [/^(?:sec-websocket-)/, FRAMING],
];

/**
 * The meaning of a request field that only the gateway sets. Undefined for other fields and for the default identity
 * headers.
 */
export function gatewayMeaning(name: string, view: PolicyView): string | undefined {
  const meaning = reservedField(name, 'request', view)?.meaning;
  return meaning === IDENTITY && DEFAULT_IDENTITY_HEADERS.has(name) ? undefined : meaning;
}

interface Reserved {
  readonly meaning: string;
  readonly hint?: string | undefined;
}

/** Undefined for a field that a policy may change. */
export function reservedField(
  name: string,
  direction: 'request' | 'response',
  view: PolicyView,
): Reserved | undefined {
  if (name === 'host' && direction === 'request')
    return { meaning: 'the host', hint: 'write host: in the section of the upstream' };
  if (name === 'x-forwarded-prefix' && direction === 'request')
    return { meaning: 'the path prefix for clients', hint: 'write locations: prefix' };
  if (direction === 'request' && versionCarriers(view).has(name)) return { meaning: 'the version' };
  const [own, families] =
    direction === 'request' ? [REQUEST, REQUEST_FAMILIES] : [RESPONSE, RESPONSE_FAMILIES];
  const meaning = BOTH[name] ?? own[name] ?? families.find(([family]) => family.test(name))?.[1];
  return meaning === undefined ? undefined : { meaning };
}

/** Lower-case names of the fields that carry a version from clients or to upstreams (VER-9). */
export function versionCarriers({ parts, unversioned }: PolicyView): ReadonlySet<string> {
  if (unversioned) return new Set();
  const names = new Set([DEFAULT_VERSION_HEADER.toLowerCase()]);
  for (const { media_type, ...entry } of parts.resolve ?? []) {
    for (const key of NAMED_CARRIERS) {
      const header = entry[key] && CARRIERS[key].headerOf?.(entry[key]);
      if (header !== undefined) names.add(header.toLowerCase());
    }
    if (media_type !== undefined) for (const name of ['accept', 'content-type']) names.add(name);
  }
  for (const { version_as } of Object.values(parts.upstreams ?? {}))
    if (typeof version_as === 'object' && 'header' in version_as) names.add(version_as.header.toLowerCase());
  return names;
}
