// Reads a JSON object from a request body of limited size and depth.
import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 1024 * 1024;
/** More than any resource needs. Functions that walk a body recurse once per level. */
const MAX_LEVELS = 32;
const TEXT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type JsonObject = Readonly<Record<string, unknown>>;

export type BodyResult =
  | { readonly kind: 'object'; readonly value: JsonObject; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly status: 400 | 413; readonly message: string };

/** Rejects only if the client disconnects in the middle of the body. `isOptional`: an empty body counts as an empty object. */
export async function readObject(
  request: IncomingMessage,
  { isOptional = false }: { readonly isOptional?: boolean } = {},
): Promise<BodyResult> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BYTES) chunks.push(chunk);
  }
  if (length > MAX_BYTES) return { kind: 'refused', status: 413, message: 'The body may have at most 1 MiB' };
  const bytes = Buffer.concat(chunks);
  if (isOptional && length === 0) return { kind: 'object', value: {}, bytes };
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { kind: 'refused', status: 400, message: 'The body must be a JSON object in UTF-8' };
  }
  if (isDeeper(value, MAX_LEVELS)) {
    return { kind: 'refused', status: 400, message: `The body may have at most ${MAX_LEVELS} levels` };
  }
  return { kind: 'object', value: value as JsonObject, bytes };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(TEXT.decode(bytes));
  } catch {
    return undefined; // not JSON or not UTF-8 (RFC 8259 §8.1): refused like JSON that is not an object
  }
}

/** Recurses at most `levels` deep, however deep the value is. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
