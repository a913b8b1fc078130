// Serialises the head of a request to an upstream.
import type { CallRequest } from '../../upstream/call.ts';
import type { SharedFields } from '../../upstream/request-headers.ts';
import { fieldLine, flatText } from '../answer-text.ts';

/** Upstreams expect a body for these methods, so an empty one gets Content-Length: 0. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

export interface Framed {
  /** Used if the fields have no Host. */
  readonly host: string;
  /** Octets of the body. -1: chunked. Undefined: no body. */
  readonly length: number | undefined;
  readonly isLast: boolean;
}

/** @throws Error `ERR_INVALID_CHAR` for an invalid value */
export function requestText(
  { method, path, fields, received }: Pick<CallRequest, 'method' | 'path' | 'fields' | 'received'>,
  { host, length, isLast }: Framed,
): string {
  const { shared, own, host: named = host } = fields;
  if (shared.text === '') shared.text = flatText(sharedText(shared, received));
  let text = `${method} ${path} HTTP/1.1\r\n${fieldLine('host', named)}${shared.text}`;
  for (let at = 0; at < own.length; at += 2) text += fieldLine(own[at] ?? '', own[at + 1] ?? '');
  return `${text}${framingOf(method, length)}${isLast ? 'connection: close\r\n\r\n' : '\r\n'}`;
}

function sharedText({ flat }: SharedFields, received: CallRequest['received']): string {
  let text = '';
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at] ?? '';
    const value = flat[at + 1] ?? '';
    // The request parser has validated received values.
    if (name !== 'content-length')
      text += value === received.get(name) ? `${name}: ${value}\r\n` : fieldLine(name, value);
  }
  return text;
}

function framingOf(method: string, length: number | undefined): string {
  if (length === undefined) return WITH_BODY.has(method) ? 'content-length: 0\r\n' : '';
  return length < 0 ? 'transfer-encoding: chunked\r\n' : `content-length: ${length}\r\n`;
}
