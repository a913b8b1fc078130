// The header section that an upstream receives: the client's, cleaned, then the gateway's.
import { isIPv6 } from 'node:net';
import { PSEUDONYM } from '../exchange/answers/error-body.ts';
import type { ForwardOrder } from '../exchange/directive.ts';
import type { RequestView } from '../exchange/request-view.ts';
import type { UpstreamPlan } from '../plan/plan.ts';
import type { Inbound } from '../plane/port.ts';
import type { Fields } from '../policy/contract.ts';
import { clientField, isForwarded, keptFields } from '../policy/headers/client-fields.ts';

/** The rules for forwarding fields. Compared by identity, because each is created once per plan or connection. */
type Rules = Pick<ForwardOrder, 'replaceHeaders' | 'headerRules' | 'label'> &
  Pick<UpstreamPlan, 'versionHeader' | 'withheld'> &
  Pick<Inbound, 'httpVersion' | 'hasBody' | 'forwardedFor' | 'forwardedHost' | 'forwarded'> &
  Required<Pick<RequestView, 'method' | 'scheme' | 'viaTrusted'>>;

/** The fields that are equal for all requests with the same client fields and rules. Names and values alternate. */
export class SharedFields {
  readonly flat: readonly string[];
  /** The form that the fast plane writes. '' until it was built. */
  text = '';
  readonly #rules: Rules;

  constructor(flat: readonly string[], rules: Rules) {
    this.flat = flat;
    this.#rules = rules;
  }

  fits(rules: Rules): boolean {
    const own = this.#rules;
    return (
      own.withheld === rules.withheld &&
      own.headerRules === rules.headerRules &&
      own.forwardedHost === rules.forwardedHost &&
      own.forwardedFor === rules.forwardedFor &&
      own.forwarded === rules.forwarded &&
      own.label === rules.label &&
      own.versionHeader === rules.versionHeader &&
      own.scheme === rules.scheme &&
      own.viaTrusted === rules.viaTrusted &&
      own.hasBody === rules.hasBody &&
      own.httpVersion === rules.httpVersion &&
      own.replaceHeaders === undefined &&
      rules.replaceHeaders === undefined &&
      own.method !== 'OPTIONS' &&
      rules.method !== 'OPTIONS'
    );
  }
}

export interface UpstreamFields {
  readonly shared: SharedFields;
  /** Of this request only. Names and values alternate. */
  readonly own: readonly string[];
  /** Undefined: the host of the target. */
  readonly host: string | undefined;
}

/** `order` determines version and authorization fields (VER-9). */
export function upstreamHeaders(inbound: Inbound, order: ForwardOrder): UpstreamFields {
  const { view } = inbound;
  const { versionHeader, withheld, host } = order.upstream;
  const rules: Rules = {
    withheld,
    versionHeader,
    replaceHeaders: order.replaceHeaders,
    headerRules: order.headerRules,
    label: order.label,
    httpVersion: inbound.httpVersion,
    hasBody: inbound.hasBody,
    forwardedFor: inbound.forwardedFor,
    forwardedHost: inbound.forwardedHost,
    forwarded: inbound.forwarded,
    method: view.method,
    scheme: view.scheme,
    viaTrusted: view.viaTrusted === true,
  };
  const { forwarded: before } = view.headers;
  const isKnown = before instanceof SharedFields && before.fits(rules);
  const shared = isKnown ? before : new SharedFields(sharedFields(view.headers, rules), rules);
  view.headers.forwarded = shared;
  const own: string[] = [];
  if (order.setHeaders !== undefined) own.push(...Object.entries(order.setHeaders).flat());
  own.push('x-request-id', view.requestId);
  if (view.trace !== undefined) {
    own.push('traceparent', view.trace.traceparent);
    if (view.trace.tracestate !== undefined) own.push('tracestate', view.trace.tracestate);
  }
  return { shared, own, host };
}

export function flatFields({ shared, own, host }: UpstreamFields): string[] {
  const flat = [...shared.flat, ...own];
  if (host !== undefined) flat.push('host', host);
  return flat;
}

function sharedFields(source: Fields, rules: Rules): readonly string[] {
  const { withheld, versionHeader, replaceHeaders: replaced, headerRules } = rules;
  const removed = nominated(source.get('connection'));
  const kept = keptFields(headerRules, rules.viaTrusted);
  const flat: string[] = [];
  source.each((name, sent) => {
    if (name.charCodeAt(0) === 58) return;
    const field = clientField(name);
    const { plain } = field;
    if (!isForwarded(name, field, kept) || removed?.has(name)) return;
    if (withheld.has(plain)) return;
    const value = replaced !== undefined && Object.hasOwn(replaced, plain) ? replaced[plain] : sent;
    if (value === undefined) return;
    flat.push(name, name === 'max-forwards' && rules.method === 'OPTIONS' ? decremented(value) : value);
  });
  const length = source.get('content-length');
  if (rules.hasBody && length !== undefined && !removed?.has('content-length'))
    flat.push('content-length', length);
  if (headerRules !== undefined) flat.push(...Object.entries(headerRules.request.set).flat());
  flat.push('via', appendVia(removed?.has('via') ? undefined : source.get('via'), rules.httpVersion));
  flat.push('x-forwarded-for', rules.forwardedFor);
  flat.push('x-forwarded-proto', rules.scheme);
  flat.push('x-forwarded-host', rules.forwardedHost);
  if (rules.forwarded !== undefined) flat.push('forwarded', rules.forwarded);
  if (versionHeader !== undefined) flat.push(versionHeader, rules.label);
  return flat;
}

// FWD-8: this hop decrements the value. Zero was answered before.
function decremented(value: string): string {
  return /^\d{1,9}$/.test(value) ? String(Math.max(0, Number(value) - 1)) : value;
}

/** Undefined if no listed field is worth removing: `keep-alive` and `close` name no field that is forwarded (FWD-1). */
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

/** A request may pass this gateway more than once, because gateways of the same name may be chained. */
export const MAX_OWN_HOPS = 3;

// A hop's name ends at a blank, a comma or a comment. A longer name with the same beginning is another hop.
const OWN_HOP = new RegExp(`(?:^|,)[ \\t]*[^ \\t,]+[ \\t]+${PSEUDONYM}(?=[ \\t,(]|$)`, 'gi');

/** `version`: HTTP version of the received message. */
export function appendVia(via: string | readonly string[] | undefined, version: string): string {
  const own = `${version} ${PSEUDONYM}`;
  return via === undefined ? own : `${typeof via === 'string' ? via : via.join(', ')}, ${own}`;
}

export function countOwnHops(via: string | undefined): number {
  if (via === undefined) return 0;
  return via.match(OWN_HOP)?.length ?? 0;
}

export interface ForwardedFacts {
  /** The client first, then trusted proxies, the peer last. */
  readonly chain: string;
  readonly scheme: 'https' | 'http';
  readonly host: string;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** RFC 7239, XFF-3: one element per hop. The last has `by` with a pseudonym instead of an address. */
export function forwardedField({ chain, scheme, host }: ForwardedFacts): string {
  const hops = chain.split(', ').map((address) => [`for=${nodeText(address)}`]);
  hops[0]?.push(`proto=${scheme}`, `host=${valueText(host)}`);
  hops.at(-1)?.push(`by=_${PSEUDONYM}`);
  return hops.map((pairs) => pairs.join(';')).join(', ');
}

/** RFC 7239 §6: an IPv6 address has brackets and quotes. A zone is local to this machine. */
function nodeText(address: string): string {
  const [plain = address] = address.split('%', 1);
  return isIPv6(plain) ? `"[${plain}]"` : plain === '' ? 'unknown' : plain;
}

function valueText(value: string): string {
  return TOKEN.test(value) ? value : `"${value}"`;
}
