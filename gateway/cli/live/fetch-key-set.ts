// Whether an issuer's key set can be had and holds a key that verifies: what the gateway does at its first token.
// Bounded like there; nothing of the answer is shown.
import { connectionFault } from '../connection-words.ts';
import type { Bounds } from './bounded.ts';

const MOST_BYTES = 256 * 1024;

/** What is wrong, or undefined. */
export async function fetchKeySet(url: string, { signal, seconds }: Bounds): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      await response.body?.cancel();
      return `it answers with status ${response.status}`;
    }
    return judge(await readText(response));
  } catch (error) {
    // Of `fetch` itself; what happened is the cause.
    const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
    return connectionFault(cause, seconds);
  }
}

/** Undefined for more than 256 KiB. */
export async function readText(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function judge(text: string | undefined): string | undefined {
  if (text === undefined) return `it is larger than ${MOST_BYTES / 1024} KiB`;
  const keys: unknown = parsed(text)?.keys;
  if (!Array.isArray(keys)) return 'it is no key set';
  return keys.some(isPublic) ? undefined : 'it holds no public key';
}

function parsed(text: string): { readonly keys?: unknown } | undefined {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isPublic(key: unknown): boolean {
  if (typeof key !== 'object' || key === null) return false;
  const kind: unknown = Reflect.get(key, 'kty');
  return typeof kind === 'string' && kind !== 'oct' && !Object.hasOwn(key, 'd');
}
