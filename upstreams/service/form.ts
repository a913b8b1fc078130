// Reads a form that a page of a sample service sent (application/x-www-form-urlencoded), up to a bound.
// Stands before every form action, after the look at where it comes from.
import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 16 * 1024;

/** Undefined when it is no form, or longer than 16 KiB. Rejects only when the client leaves in the middle of it. */
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
