// The head of a request as an upstream gets it.
// Written by direct-call.ts; upstream/request-headers.ts says what stands in it.
import type { CallRequest } from '../../upstream/call.ts';

/** Of these an upstream expects a body, so that it is told that there is none. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
// RFC 9110 §5.5: what else there is would end the line, or is no octet.
const UNWRITABLE = /[^\t\x20-\x7e\x80-\xff]/;

export interface Framed {
  /** Where the fields name none. */
  readonly host: string;
  /** Octets of the body; -1: chunked; undefined: none. */
  readonly length: number | undefined;
  /** The connection ends with the answer. */
  readonly isLast: boolean;
}

/** @throws Error `ERR_INVALID_CHAR` for a value that cannot be written */
export function requestText(
  { method, path, headers, received }: Pick<CallRequest, 'method' | 'path' | 'headers' | 'received'>,
  { host, length, isLast }: Framed,
): string {
  let named = host;
  let fields = '';
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    if (value !== received.get(name) && UNWRITABLE.test(value))
      throw Object.assign(new Error(`the value of ${name} cannot be written`), { code: 'ERR_INVALID_CHAR' });
    if (name === 'host') named = value;
    else if (name !== 'content-length') fields += `${name}: ${value}\r\n`;
  }
  const framing = framingOf(method, length);
  const end = isLast ? 'connection: close\r\n\r\n' : '\r\n';
  return `${method} ${path} HTTP/1.1\r\nhost: ${named}\r\n${fields}${framing}${end}`;
}

function framingOf(method: string, length: number | undefined): string {
  if (length === undefined) return WITH_BODY.has(method) ? 'content-length: 0\r\n' : '';
  return length < 0 ? 'transfer-encoding: chunked\r\n' : `content-length: ${length}\r\n`;
}
