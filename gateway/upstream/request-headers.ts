// The header section an upstream receives: the client's, cleaned, then ours.
// Order matters: what the client may remove or forge is gone before anything of ours is added (FWD-1, XFF-1).
import type { ForwardOrder } from '../exchange/directive.ts';
import { clientField, goesOn, keptFields } from '../plan/client-fields.ts';
import type { Inbound } from '../plane/port.ts';
import { appendVia, nominated } from './hop-by-hop.ts';

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
