// Decodes the body of an upstream's response while it arrives (RFC 9112 §6.3).
import type { AnswerHead } from './answer-head.ts';
import { ChunkedBody } from './chunked-body.ts';

/** Octets. Extensions: per chunk. */
const MAX_FRAMING = { extensions: 16 * 1_024, trailers: 64 * 1_024 };

export type AnswerBody = { left: number } | ChunkedBody | 'to-end';

/** Undefined: the response has no body. */
export function bodyOf({ status, framing }: AnswerHead, isHead: boolean): AnswerBody | undefined {
  if (isHead || status === 204 || status === 304 || framing === 0) return undefined;
  if (framing === 'chunked') return new ChunkedBody(MAX_FRAMING);
  return framing === 'to-end' ? framing : { left: framing };
}

/** Passes the content in bytes[at, to) to `give`. Returns the offset of the end of the body, or -1. */
export function readBody(
  body: AnswerBody,
  bytes: Buffer,
  at: number,
  to: number,
  give: (content: Buffer) => void,
): number {
  if (body === 'to-end') {
    if (at < to) give(bytes.subarray(at, to));
    return -1;
  }
  if (body instanceof ChunkedBody)
    return body.read(bytes, at, to, (start, end) => {
      if (start < end) give(bytes.subarray(start, end));
    });
  const end = Math.min(to, at + body.left);
  body.left -= end - at;
  if (at < end) give(bytes.subarray(at, end));
  return body.left === 0 ? end : -1;
}
