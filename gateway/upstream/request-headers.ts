// The header section an upstream receives: the client's, cleaned, then ours.
// Order matters: what the client may remove or forge is gone before anything of ours is added (FWD-1, XFF-1).
import { isIPv6 } from 'node:net';
import type { ForwardOrder } from '../exchange/directive.ts';
import { PSEUDONYM } from '../exchange/error-body.ts';
import { clientField, goesOn, keptFields } from '../plan/client-fields.ts';
import type { Inbound } from '../plane/port.ts';

/** Names and values, flat. `order` decides version and authorization fields (VER-9). */
export function upstreamHeaders(inbound: Inbound, order: ForwardOrder): string[] {
  const { view } = inbound;
  const source = view.headers;
  const removed = nominated(source.get('connection'));
  const { versionHeader, withheld, host } = order.upstream;
  const replaced = order.replaceHeaders;
  const edits = order.headerRules?.request;
  const kept = keptFields(order.headerRules, view.viaTrusted);
  const flat: string[] = [];
  source.each((name, sent) => {
    if (name.charCodeAt(0) === 58) return;
    const field = clientField(name);
    const { plain } = field;
    if (!goesOn(name, field, kept) || removed?.has(name)) return;
    if (withheld.has(plain)) return;
    const value = replaced !== undefined && Object.hasOwn(replaced, plain) ? replaced[plain] : sent;
    if (value === undefined) return;
    flat.push(name, name === 'max-forwards' && view.method === 'OPTIONS' ? decremented(value) : value);
  });
  const length = source.get('content-length');
  if (inbound.hasBody && length !== undefined && !removed?.has('content-length')) {
    flat.push('content-length', length);
  }
  if (edits !== undefined) flat.push(...Object.entries(edits.set).flat());
  if (order.setHeaders !== undefined) flat.push(...Object.entries(order.setHeaders).flat());
  if (host !== undefined) flat.push('host', host);
  flat.push('via', appendVia(removed?.has('via') ? undefined : source.get('via'), inbound.httpVersion));
  flat.push('x-forwarded-for', inbound.forwardedFor);
  flat.push('x-forwarded-proto', view.scheme);
  flat.push('x-forwarded-host', inbound.forwardedHost);
  if (inbound.forwarded !== undefined) flat.push('forwarded', inbound.forwarded);
  flat.push('x-request-id', view.requestId);
  if (view.trace !== undefined) {
    flat.push('traceparent', view.trace.traceparent);
    if (view.trace.tracestate !== undefined) flat.push('tracestate', view.trace.tracestate);
  }
  if (versionHeader !== undefined) flat.push(versionHeader, order.label);
  return flat;
}

// FWD-8: a hop counts itself; zero was answered before it came here.
function decremented(value: string): string {
  return /^\d{1,9}$/.test(value) ? String(Math.max(0, Number(value) - 1)) : value;
}

/**
 * Lower-case names a Connection field nominates, or undefined when there are none worth removing:
 * the usual `keep-alive` and `close` name no field that is not removed anyway (FWD-1).
 */
export function nominated(
  connection: string | readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (connection === undefined) return undefined;
  const value = typeof connection === 'string' ? connection : connection.join(',');
  if (value === 'keep-alive' || value === 'close') return undefined;
  const names = new Set<string>();
  for (const token of value.split(',')) {
    const name = token.trim().toLowerCase();
    if (name !== '') names.add(name);
  }
  return names;
}

/** How often a request may have been here before: gateways of the same name may stand one behind another. */
export const MOST_TIMES_HERE = 3;

// A hop's name ends at a blank, a comma or a comment; a longer name that begins with ours is another's.
const HERE = new RegExp(`(?:^|,)[ \\t]*[^ \\t,]+[ \\t]+${PSEUDONYM}(?=[ \\t,(]|$)`, 'gi');

/** `via` with this hop appended; `version` is that of the message received. */
export function appendVia(via: string | readonly string[] | undefined, version: string): string {
  const own = `${version} ${PSEUDONYM}`;
  return via === undefined ? own : `${typeof via === 'string' ? via : via.join(', ')}, ${own}`;
}

/** How many hops of `via` are this gateway. */
export function timesHere(via: string | undefined): number {
  if (via === undefined) return 0;
  return via.match(HERE)?.length ?? 0;
}

export interface ForwardedFacts {
  /** The client first, then proxies that vouch for it, the peer last; comma and blank between them. */
  readonly chain: string;
  /** How the client came, and what it asked for. */
  readonly scheme: 'https' | 'http';
  readonly host: string;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The Forwarded field for upstreams that want RFC 7239 (XFF-3). One element for each hop: the client's with `proto` and `host`, the last with `by`, which names no machine. */
export function forwardedField({ chain, scheme, host }: ForwardedFacts): string {
  const hops = chain.split(', ').map((address) => [`for=${nodeText(address)}`]);
  hops[0]?.push(`proto=${scheme}`, `host=${valueText(host)}`);
  hops.at(-1)?.push(`by=_${PSEUDONYM}`);
  return hops.map((pairs) => pairs.join(';')).join(', ');
}

/** RFC 7239 section 6: an IPv6 address stands in brackets and quotes. A zone is of this machine only. */
function nodeText(address: string): string {
  const [plain = address] = address.split('%', 1);
  return isIPv6(plain) ? `"[${plain}]"` : plain === '' ? 'unknown' : plain;
}

function valueText(value: string): string {
  return TOKEN.test(value) ? value : `"${value}"`;
}
