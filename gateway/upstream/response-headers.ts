// The header section of an upstream's answer, judged and cleaned in place before it is decorated.
// Stands between the upstream's head and exchange.decorate().
import type { AnswerHeaders } from '../exchange/answer-headers.ts';
import { Fault, type ForwardOrder } from '../exchange/directive.ts';
import { appendVia, nominated } from './hop-by-hop.ts';

const HOP_BY_HOP: readonly string[] = [
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

/** An answer that has no content, whatever an upstream sends behind its head (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/**
 * Removes what ends at this hop (FWD-3) and Content-Length where it may not stand (SMG-23),
 * keeps the first of repeated singletons, adds this hop to Via (FWD-6).
 * Throws `upstream_invalid` for a status or a framing that no client may be shown (SMG-22).
 */
export function cleanAnswer(status: number, headers: AnswerHeaders, service: string): void {
  if (status < 200 || status > 599) throw new Fault('upstream_invalid', { service });
  const coding = headers['transfer-encoding'];
  // A coding undici does not undo would reach the client as if it were the content itself.
  if (coding !== undefined && (typeof coding !== 'string' || coding.trim().toLowerCase() !== 'chunked')) {
    throw new Fault('upstream_invalid', { service });
  }
  const length = headers['content-length'];
  if (length !== undefined && (typeof length !== 'string' || !/^\d+$/.test(length))) {
    throw new Fault('upstream_invalid', { service });
  }
  cleanFields(headers);
  if (status === 204) delete headers['content-length'];
  // Unlike 204 it ends with its head only where that says so (RFC 9110 §15.3.6).
  if (status === 205) headers['content-length'] = '0';
}

/** What `cleanAnswer` does to the fields of any answer, for the one that is not judged as an answer: a 101. */
export function cleanFields(headers: AnswerHeaders): void {
  const removed = nominated(headers.connection);
  if (removed !== undefined) for (const name of removed) delete headers[name];
  for (const name of HOP_BY_HOP) if (headers[name] !== undefined) delete headers[name];
  for (const name of SINGLETONS) {
    const value = headers[name];
    if (typeof value === 'object') headers[name] = value[0];
  }
  // undici does not tell the version of an answer; upstreams are spoken to in HTTP/1.1 only.
  headers.via = appendVia(headers.via, '1.1');
}

/** What the policy sets and removes, before anything of ours is added. */
export function editAnswer(headers: AnswerHeaders, { headerRules }: Pick<ForwardOrder, 'headerRules'>): void {
  if (headerRules === undefined) return;
  for (const name of headerRules.response.remove) delete headers[name];
  Object.assign(headers, headerRules.response.set);
}

/** Node refuses to write a field whose value is undefined; whoever edits headers may leave such. */
export function dropUndefined(headers: AnswerHeaders): void {
  for (const name in headers) if (headers[name] === undefined) delete headers[name];
}
