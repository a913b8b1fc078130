// Cross checks of the `headers` of a policy file: what a policy may not touch, with the reason.
import { CARRIERS, NAMED_CARRIERS } from '../../policy/versioning/carriers.ts';
import { DEFAULT_VERSION_HEADER } from '../compile/resolution.ts';
import { parseFieldName } from '../grammar/message-sections.ts';
import type { Path } from '../read/document.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { PolicyView, Report } from './views.ts';

const FRAMING = 'connection framing';
const IDENTITY = 'who calls';
const LIFECYCLE = 'what the gateway says of the life of an API';

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
  via: 'the way of a message',
  'x-request-id': 'which request it is',
};
const REQUEST: Readonly<Record<string, string>> = {
  forwarded: IDENTITY,
  'x-real-ip': IDENTITY,
  'x-client-id': IDENTITY,
  'x-scopes': IDENTITY,
  proxy: IDENTITY,
  'accept-encoding': 'the coding of answers',
};
const RESPONSE: Readonly<Record<string, string>> = {
  'content-encoding': FRAMING,
  'content-range': FRAMING,
  date: 'when it answered',
  deprecation: LIFECYCLE,
  sunset: LIFECYCLE,
  link: LIFECYCLE,
  warning: LIFECYCLE,
  'proxy-status': 'what failed',
  'strict-transport-security': 'how it is reached',
  'retry-after': 'when to come again',
  'idempotency-replayed': 'whether an answer is given again',
  vary: 'what an answer depends on',
};
/** Dropped from what clients send whether or not an upstream is told by them. */
const OURS_TO_TELL: ReadonlySet<string> = new Set(['x-client-id', 'x-scopes']);
const REQUEST_FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(?:x-forwarded-|x-client-cert|client-cert|x-user-)/, IDENTITY],
  [/^(?:sec-websocket-)/, FRAMING],
];
const RESPONSE_FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(?:x-ratelimit-|ratelimit)/, 'limits'],
  [/^x-api-/, LIFECYCLE],
  [/^access-control-/, 'pages of other origins: see cors'],
  [/^(?:sec-websocket-)/, FRAMING],
];

export function checkHeaders(view: PolicyView, report: Report): void {
  for (const direction of ['request', 'response'] as const) {
    const at: Path = ['headers', direction];
    // A field that is also in keep has its finding there.
    const kept = (direction === 'request' && view.parts.headers?.request?.keep) || [];
    const set = keysOf(valueAt(view.document.value, [...at, 'set']));
    const seen = new Set<string>();
    for (const written of set) {
      const place = [...at, 'set', written];
      const name = parseFieldName(written);
      if (name === undefined) report(place, { rule: 'headers', message: 'not a field name', at: 'key' });
      else if (!kept.includes(name)) judge(name, direction, place, 'key');
      if (name !== undefined && seen.has(name))
        report(place, { rule: 'headers', message: `${name} is set above`, at: 'key' });
      if (name !== undefined) seen.add(name);
    }
    for (const [index, name] of (view.parts.headers?.[direction]?.remove ?? []).entries()) {
      const place = [...at, 'remove', index];
      if (kept.includes(name)) continue;
      judge(name, direction, place, 'value');
      if (seen.has(name))
        report(place, {
          rule: 'headers',
          message: `${name} is in set too, which replaces it`,
          hint: 'name it in one of them',
        });
    }
  }

  function judge(name: string, direction: 'request' | 'response', place: Path, at: 'key' | 'value'): void {
    const why = reserved(name, direction, view);
    if (why === undefined) return;
    report(place, {
      rule: 'headers',
      message: `${name} is the gateway's: it says ${why.says}`,
      hint: why.hint,
      at,
    });
  }
}

/** What a field of requests says that nobody else may; undefined for one that is free, or ours to say who calls. */
export function ofTheGateway(name: string, view: PolicyView): string | undefined {
  const says = reserved(name, 'request', view)?.says;
  return says === IDENTITY && OURS_TO_TELL.has(name) ? undefined : says;
}

interface Reserved {
  readonly says: string;
  readonly hint?: string | undefined;
}

function reserved(name: string, direction: 'request' | 'response', view: PolicyView): Reserved | undefined {
  if (name === 'host' && direction === 'request')
    return { says: 'which host is meant', hint: 'write host: in the section of the upstream' };
  if (name === 'x-forwarded-prefix' && direction === 'request')
    return { says: 'where clients find the service', hint: 'write locations: prefix' };
  if (direction === 'request' && versionCarriers(view).has(name)) return { says: 'which version is meant' };
  const [own, families] =
    direction === 'request' ? [REQUEST, REQUEST_FAMILIES] : [RESPONSE, RESPONSE_FAMILIES];
  const says = BOTH[name] ?? own[name] ?? families.find(([family]) => family.test(name))?.[1];
  return says === undefined ? undefined : { says };
}

/** Lower-case names of the fields that tell the gateway or an upstream a version (VER-9). */
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
