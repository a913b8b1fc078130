// The header section an upstream receives: the client's, cleaned, then ours.
// Order matters: what the client may remove or forge is gone before anything of ours is added (FWD-1, XFF-1).
import type { ForwardOrder } from '../exchange/directive.ts';
import { nominated } from './hop-by-hop.ts';
import type { Inbound } from './inbound.ts';
import { appendVia } from './via.ts';

// Hop-by-hop fields, fields the gateway sets itself, and identity fields a client could forge.
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
  'via',
  'content-length',
  'x-request-id',
  'traceparent',
  'tracestate',
  'forwarded',
  'x-forwarded',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'x-client-id',
  'x-scopes',
  // Some frameworks route by these instead of the path that was judged (ORD-2).
  'x-original-url',
  'x-rewrite-url',
  'proxy',
]);

const FORGEABLE = /^(?:x-forwarded-|x-client-cert|client-cert|x-ssl-client|x-user-)/;

/** Names and values for undici, flat. `order` decides version and authorization fields (VER-9). */
export function upstreamHeaders(inbound: Inbound, order: ForwardOrder): string[] {
  const { raw, view } = inbound;
  const source = raw.headers;
  const removed = nominated(source.connection);
  const { versionHeader, authorization, host } = order.upstream;
  const versionName = versionHeader?.toLowerCase();
  const replaced = order.replaceHeaders;
  const edits = order.headerRules?.request;
  const flat: string[] = [];
  for (const name in source) {
    if (name.charCodeAt(0) === 58 || NEVER_FORWARDED.has(name) || FORGEABLE.test(name)) continue;
    if (removed?.has(name) || name === versionName || order.removeHeaders.includes(name)) continue;
    if (name === 'authorization' && authorization === 'strip') continue;
    if (edits !== undefined && (Object.hasOwn(edits.set, name) || edits.remove.includes(name))) continue;
    const value = replaced !== undefined && Object.hasOwn(replaced, name) ? replaced[name] : source[name];
    if (value === undefined) continue;
    if (name === 'max-forwards' && raw.method === 'OPTIONS') {
      flat.push(name, decremented(String(value)));
    } else if (typeof value === 'string') {
      flat.push(name, value);
    } else {
      for (const each of value) flat.push(name, each);
    }
  }
  const length = source['content-length'];
  if (inbound.hasBody && length !== undefined && !removed?.has('content-length')) {
    flat.push('content-length', length);
  }
  if (edits !== undefined) flat.push(...Object.entries(edits.set).flat());
  if (order.setHeaders !== undefined) flat.push(...Object.entries(order.setHeaders).flat());
  if (host !== undefined) flat.push('host', host);
  flat.push('via', appendVia(removed?.has('via') ? undefined : source.via, raw.httpVersion));
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
