// Reads a form (application/x-www-form-urlencoded) from a request body of limited size.
import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 16 * 1024;

/** Undefined if the body is not a form or is longer than 16 KiB. Rejects only if the client disconnects in the middle of it. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
  }
  if (type !== 'application/x-www-form-urlencoded' || bytes > MAX_BYTES) return undefined;
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
