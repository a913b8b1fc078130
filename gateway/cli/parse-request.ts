// Parses a request from the command line or an expectation into the view that a listener would create.

import type { RequestRefusal } from '../exchange/directive.ts';
import {
  coversHost,
  OFFERED_METHODS,
  RecordFields,
  type RequestGlimpse,
  type RequestView,
  readAuthority,
  readTarget,
} from '../exchange/request-view.ts';
import { plainRefusal } from '../exchange/steps/plain-http.ts';
import { expectationRefusal, type RequestHead, strictnessRefusal } from '../exchange/strictness.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Settings } from '../plan/settings.ts';

export interface RequestText {
  /** Such as `GET /api/v1/orders`, with a path or a URL. The default method is GET. */
  readonly request: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Host of a request that names none. */
  readonly host: string;
  /** Used if the request has no Authorization header. */
  readonly authorization: string | undefined;
}

export type ParsedRequest =
  | { readonly kind: 'view'; readonly view: RequestView }
  /** `glimpse`: what the refusal's response needs. */
  | {
      readonly kind: 'refused';
      readonly view: RequestView;
      readonly glimpse: RequestGlimpse;
      readonly refusal: RequestRefusal;
    }
  | { readonly kind: 'unusable'; readonly message: string };

const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;
const WORDS = /^(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+) +)?(\S+)$/;
const SENDABLE = /^(?:\/|\*$|https?:\/\/)/i;
const ORIGIN = /^https?:\/\/[^/?#]*/i;
const OFFERED: ReadonlySet<string> = new Set(OFFERED_METHODS);
/** TEST-NET-1 of RFC 5737. */
const EXAMPLE_ADDRESS = '192.0.2.1';

/** Splits `Name: value`. Undefined for anything else. */
export function parseField(text: string): readonly [name: string, value: string] | undefined {
  const [, name, value] = FIELD.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : [name.toLowerCase(), value];
}

export function parseRequest(
  text: RequestText,
  { listeners, bounds }: Pick<Settings, 'listeners' | 'bounds'>,
  plan: GatewayPlan,
): ParsedRequest {
  const [, method = 'GET', rawTarget = ''] = WORDS.exec(text.request.trim()) ?? [];
  // A method alone is an error: a shell may have removed the path.
  if (!SENDABLE.test(rawTarget)) return unusable('Write a method and a path, such as GET /api/v1/orders.');
  const headers = fieldsOf(text);
  // As HTTP/1.1, because the bounds count fewer octets for a header than over HTTP/2.
  const head: RequestHead = {
    url: rawTarget.replace(ORIGIN, ''),
    httpVersion: '1.1',
    rawHeaders: linesOf(text),
    headers,
  };
  const unsound = strictnessRefusal(head, false, bounds);
  const unmet = expectationRefusal(head);
  const target = readTarget(rawTarget, method);
  if (target.kind === 'server')
    return unusable('The target * is for the gateway itself, so no policy applies.');
  // FWD-8: with `Max-Forwards: 0` the gateway answers itself.
  if (method === 'OPTIONS' && headers['max-forwards'] === '0')
    return unusable('Max-Forwards: 0 is for the gateway itself, so no policy applies.');
  const absolute = target.kind === 'resource' ? target.absolute?.authority : undefined;
  const named = absolute ?? headers.host;
  const authority = readAuthority(named ?? text.host);
  const isPlain = /^http:/i.test(rawTarget);
  const scheme = isPlain || listeners.https === undefined ? 'http' : 'https';
  if (isPlain && listeners.http === undefined)
    return unusable('No listener of this gateway accepts plain HTTP. Use an https URL.');
  const view: RequestView = {
    method,
    scheme,
    host: authority?.host ?? text.host,
    misdirected: scheme === 'https' && authority !== undefined && isUncertified(authority.host, listeners),
    path: target.kind === 'resource' ? target.path : (head.url ?? '/'),
    search: target.kind === 'resource' ? target.search : '',
    headers: new RecordFields({ ...headers, host: named ?? text.host }),
    underscored: head.underscored,
    clientAddress: EXAMPLE_ADDRESS,
    requestId: 'explained',
  };
  const seen: RequestGlimpse = { scheme, headers: view.headers };
  const refused = (refusal: RequestRefusal, glimpse = seen): ParsedRequest => ({
    kind: 'refused',
    view,
    glimpse,
    refusal,
  });
  const mode = listeners.http?.mode ?? 'serve';
  if (view.scheme === 'http' && mode !== 'serve') {
    const isSound =
      unsound === undefined &&
      OFFERED.has(method) &&
      unmet === undefined &&
      target.kind === 'resource' &&
      authority !== undefined;
    return isSound
      ? refused(plainRefusal(mode, view, plan), view)
      : refused(plainRefusal(mode, undefined, plan));
  }
  if (unsound !== undefined) return refused(unsound);
  if (!OFFERED.has(method)) return refused({ reason: 'method_unknown', method });
  if (unmet !== undefined) return refused(unmet);
  if (target.kind === 'malformed') {
    return refused({ reason: 'request_malformed', status: 400, message: target.message });
  }
  if (authority === undefined) {
    const message = 'The request needs exactly one valid authority.';
    return refused({ reason: 'request_malformed', status: 400, message });
  }
  return { kind: 'view', view };
}

/** Without a certificate for the host a client cannot connect, whatever certificate the gateway would present. */
function isUncertified(host: string, { https }: Settings['listeners']): boolean {
  const { certificates = [] } = https ?? {};
  const names = certificates.flatMap((each) => each.names);
  return names.length > 0 && !coversHost({ names }, host);
}

function linesOf({ headers, host, authorization }: RequestText): readonly string[] {
  const isGiven = (name: string) => headers.some(([given]) => given.toLowerCase() === name);
  return [
    ...(isGiven('host') ? [] : ['host', host]),
    ...(authorization === undefined || isGiven('authorization') ? [] : ['authorization', authorization]),
    ...headers.flat(),
  ];
}

/** Joins repeated fields as Node does. */
function fieldsOf({ headers, authorization }: RequestText): Record<string, string> {
  const fields: Record<string, string> = authorization === undefined ? {} : { authorization };
  const given = new Set<string>();
  for (const [target, value] of headers) {
    const name = target.toLowerCase();
    const before = given.has(name) ? fields[name] : undefined;
    fields[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
    given.add(name);
  }
  return fields;
}

function unusable(message: string): ParsedRequest {
  return { kind: 'unusable', message };
}
