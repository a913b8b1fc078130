// A request as somebody writes it, on the command line or in an expectation, made the view that a listener would make.
// What a listener would refuse before judging is refused here too; the connection itself is not simulated.
import { readAuthority } from '../exchange/authority.ts';
import type { RequestRefusal } from '../exchange/directive.ts';
import { plainRefusal } from '../exchange/plain-http.ts';
import { METHODS, type RequestView } from '../exchange/request-view.ts';
import { readTarget } from '../exchange/target.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Settings } from '../plan/settings.ts';

export interface AskedRequest {
  /** `GET /api/v1/orders`, with a path or a whole URL; without a method it is a GET. */
  readonly request: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Host of a request that names none. */
  readonly host: string;
  /** Stands in for a token that was not written out. */
  readonly authorization: string | undefined;
}

export type Asked =
  | { readonly kind: 'view'; readonly view: RequestView }
  | { readonly kind: 'refused'; readonly view: RequestView; readonly refusal: RequestRefusal }
  /** Nothing that could be sent. */
  | { readonly kind: 'unusable'; readonly message: string };

const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;
const WORDS = /^(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+) +)?(\S+)$/;
/** A path, a URL, or `*`. */
const SENDABLE = /^(?:\/|\*$|https?:\/\/)/i;
const OFFERED: ReadonlySet<string> = new Set(METHODS);
/** TEST-NET-1 of RFC 5737: an address nobody has. */
const NOBODYS_ADDRESS = '192.0.2.1';

/** `Name: value` apart; undefined for anything else. */
export function parseField(text: string): readonly [name: string, value: string] | undefined {
  const [, name, value] = FIELD.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : [name.toLowerCase(), value];
}

export function readAsked(
  asked: AskedRequest,
  { listeners }: Pick<Settings, 'listeners'>,
  plan: GatewayPlan,
): Asked {
  const [, method = 'GET', written = ''] = WORDS.exec(asked.request.trim()) ?? [];
  // A method alone, as when a shell took the path away, is no request for a path of that name.
  if (!SENDABLE.test(written)) return unusable('Write a method and a path, such as GET /api/v1/orders.');
  const headers = fieldsOf(asked);
  const target = readTarget(written, method);
  if (target.kind === 'server')
    return unusable('The target * asks the gateway about itself: nothing is judged.');
  // FWD-8: this is the last hop that it may reach.
  if (method === 'OPTIONS' && headers['max-forwards'] === '0')
    return unusable('With Max-Forwards: 0 it asks the gateway about itself: nothing is judged.');
  const absolute = target.kind === 'resource' ? target.absolute?.authority : undefined;
  const named = absolute ?? headers.host;
  const authority = readAuthority(named ?? asked.host);
  const isPlain = /^http:/i.test(written);
  const view: RequestView = {
    method,
    scheme: isPlain || listeners.https === undefined ? 'http' : 'https',
    host: authority?.host ?? asked.host,
    path: target.kind === 'resource' ? target.path : '/',
    search: target.kind === 'resource' ? target.search : '',
    headers: { ...headers, host: named ?? asked.host },
    clientAddress: NOBODYS_ADDRESS,
    requestId: 'explained',
  };
  const refused = (refusal: RequestRefusal): Asked => ({ kind: 'refused', view, refusal });
  const mode = listeners.http?.mode ?? 'serve';
  if (view.scheme === 'http' && mode !== 'serve') {
    const isSound = OFFERED.has(method) && target.kind === 'resource' && authority !== undefined;
    return refused(plainRefusal(mode, isSound ? view : undefined, plan));
  }
  if (!OFFERED.has(method)) return refused({ reason: 'method_unknown', method });
  if (target.kind === 'malformed') {
    return refused({ reason: 'request_malformed', status: 400, message: target.message });
  }
  if (authority === undefined) {
    const message = 'The request needs exactly one valid authority.';
    return refused({ reason: 'request_malformed', status: 400, message });
  }
  return { kind: 'view', view };
}

/** Repeats are joined as Node joins them; names with `_` are not seen by the gateway either (SMG-25). */
function fieldsOf({ headers, authorization }: AskedRequest): Record<string, string> {
  const fields: Record<string, string> = authorization === undefined ? {} : { authorization };
  const given = new Set<string>();
  for (const [written, value] of headers) {
    const name = written.toLowerCase();
    if (name.includes('_')) continue;
    const before = given.has(name) ? fields[name] : undefined;
    fields[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
    given.add(name);
  }
  return fields;
}

function unusable(message: string): Asked {
  return { kind: 'unusable', message };
}
