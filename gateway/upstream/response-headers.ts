// The header section of an upstream's answer, judged and cleaned in place before it is decorated.
// Stands between the upstream's head and exchange.decorate().
import { mapAnswer } from '../exchange/addresses/answer-addresses.ts';
import type { HeaderLines } from '../exchange/answer-headers.ts';
import { answerInKind } from '../exchange/answer-type.ts';
import { Fault } from '../exchange/directive.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Forwarded } from './attempts.ts';
import { appendVia, nominated } from './request-headers.ts';

const DROPPED: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  // RFC 7838: another authority for the origin, which would lead clients round the gateway.
  'alt-svc',
  // Orders to the proxy next to the service: another proxy before the gateway would obey them with its own files and places.
  ...['x-accel-redirect', 'x-sendfile', 'x-sendfile2', 'x-sendfile-temporary', 'x-lighttpd-send-file'],
  ...['x-litespeed-location', 'x-reproxy-url', 'x-reproxy-file', 'x-envoy-immediate-health-check-fail'],
];

// FWD-4: of these a message has one; two leave it to the client which to believe.
const SINGLETONS: readonly string[] = [
  'content-type',
  'location',
  'date',
  'etag',
  'last-modified',
  'expires',
  'age',
  'retry-after',
  'content-location',
  'content-range',
  'server',
];
const KINDS: ReadonlyMap<string, 'dropped' | 'singleton'> = new Map([
  ...DROPPED.map((name) => [name, 'dropped'] as const),
  ...SINGLETONS.map((name) => [name, 'singleton'] as const),
]);

/** An answer that has no content, whatever an upstream sends behind its head (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/**
 * Removes what ends at this hop (FWD-3) and Content-Length where it may not stand (SMG-23),
 * keeps the first of repeated singletons, adds this hop to Via (FWD-6).
 * Throws `upstream_invalid` for a status or a framing that no client may be shown (SMG-22).
 */
export function cleanAnswer(status: number, headers: HeaderLines, service: string): void {
  if (status < 200 || status > 599) throw new Fault('upstream_invalid', { service });
  const coding = headers.get('transfer-encoding');
  // A coding undici does not undo would reach the client as if it were the content itself.
  if (coding !== undefined && (typeof coding !== 'string' || coding.trim().toLowerCase() !== 'chunked')) {
    throw new Fault('upstream_invalid', { service });
  }
  const length = headers.get('content-length');
  if (length !== undefined && (typeof length !== 'string' || !/^\d+$/.test(length))) {
    throw new Fault('upstream_invalid', { service });
  }
  cleanFields(headers);
  if (status === 204) headers.remove('content-length');
  // Unlike 204 it ends with its head only where that says so (RFC 9110 §15.3.6).
  if (status === 205) headers.set('content-length', '0');
}

/** What `cleanAnswer` does to the fields of any answer, for the one that is not judged as an answer: a 101. */
export function cleanFields(headers: HeaderLines): void {
  const named = nominated(headers.get('connection'));
  headers.edit((name, value) => {
    const kind = KINDS.get(name);
    if (kind === 'dropped' || named?.has(name)) return undefined;
    return kind === 'singleton' && typeof value !== 'string' ? value[0] : value;
  });
  // undici does not tell the version of an answer; upstreams are spoken to in HTTP/1.1 only.
  headers.set('via', appendVia(headers.get('via'), '1.1'));
}

/** From an upstream's clean head to the client's: addresses, what the policy sets and removes, the media type, then ours. */
export function finishHead(
  { decorate }: Pick<Exchange, 'decorate'>,
  status: number,
  headers: HeaderLines,
  { inbound, order, facts }: Forwarded,
): void {
  facts.completion.addressesOutside += mapAnswer(headers, order, inbound.forwardedHost);
  if (order.headerRules !== undefined) {
    const { remove, set } = order.headerRules.response;
    for (const name of remove) headers.remove(name);
    for (const name in set) headers.set(name, set[name]);
  }
  answerInKind(status, headers, order);
  decorate(status, headers, facts, inbound.view);
}
