// Checks that an issuer's key set has a usable key and its introspection accepts the gateway's credentials.
import type { IntrospectionIdentity } from '../../plan/settings.ts';
import { connectionFault } from '../connection-words.ts';
import type { LiveCheckBounds } from './live-attempts.ts';

const MAX_BYTES = 256 * 1024;
const UNKNOWN_TOKEN = 'sundial-check-live';

/** The problem, or undefined. */
export async function fetchKeySet(
  url: string,
  { signal, seconds }: LiveCheckBounds,
): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      await response.body?.cancel();
      return `it answers with status ${response.status}`;
    }
    return judgeKeySet(await readText(response));
  } catch (error) {
    return faultOf(error, seconds);
  }
}

/** Asks about a token that was never issued. Returns the problem, or undefined. */
export async function askIntrospection(
  { endpoint, client }: Pick<IntrospectionIdentity, 'endpoint' | 'client'>,
  { signal, seconds }: LiveCheckBounds,
): Promise<string | undefined> {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  const credentials = Buffer.from(`${encode(client.id)}:${encode(client.secret)}`).toString('base64');
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      signal,
      redirect: 'error',
      headers: { accept: 'application/json', authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ token: UNKNOWN_TOKEN, token_type_hint: 'access_token' }),
    });
    if (response.status === 200) return judgeActive(await readText(response));
    await response.body?.cancel();
    return response.status === 401 || response.status === 403
      ? `it does not take the id and secret of client (${response.status})`
      : `it answers with status ${response.status}`;
  } catch (error) {
    return faultOf(error, seconds);
  }
}

function faultOf(error: unknown, seconds: number): string {
  // `fetch` wraps the connection error.
  const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
  return connectionFault(cause, seconds);
}

/** Undefined for more than 256 KiB. */
async function readText(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function judgeKeySet(text: string | undefined): string | undefined {
  if (text === undefined) return `it is larger than ${MAX_BYTES / 1024} KiB`;
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

function judgeActive(text: string | undefined): string | undefined {
  const active = text === undefined ? undefined : /"active"\s*:\s*(true|false)/.exec(text)?.[1];
  if (active === undefined) return 'its answer does not say whether a token is active';
  return active === 'false' ? undefined : 'it reports an invented token as active';
}
