// Describes a request as it arrived: the body of an echo answer.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const MAX_BODY_SHOWN = 64 * 1024;

export interface Received {
  readonly method: string;
  /** Request target, byte for byte. */
  readonly target: string;
  readonly httpVersion: string;
  /** Header lines in their original order and case, repeated ones apart. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: {
    /** Bytes. */
    readonly length: number;
    /** Hexadecimal. */
    readonly sha256: string;
    /** The first 64 KiB. */
    readonly base64: string;
  };
}

/** Reads the body to its end. Rejects if the client disconnects before. */
export async function receive(request: IncomingMessage): Promise<Received> {
  const hash = createHash('sha256');
  const shown: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (length < MAX_BODY_SHOWN) shown.push(chunk.subarray(0, MAX_BODY_SHOWN - length));
    length += chunk.length;
  }
  const { rawHeaders } = request;
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    httpVersion: request.httpVersion,
    headers: Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
      rawHeaders[index * 2] ?? '',
      rawHeaders[index * 2 + 1] ?? '',
    ]),
    body: { length, sha256: hash.digest('hex'), base64: Buffer.concat(shown).toString('base64') },
  };
}
