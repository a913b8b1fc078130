// Client of the webhooks service: limits time and size, and follows no redirect.

export type ServiceAnswer =
  /** `body`: the parsed JSON, or undefined. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  /** `code`: the system's error code, without an address. */
  | { readonly kind: 'away'; readonly code: string }
  | { readonly kind: 'late'; readonly withinMs: number }
  | { readonly kind: 'huge'; readonly mostBytes: number };

/** `path` begins with a slash. Failures of the service are values, not rejections. */
export type WebhookService = (path: string, body?: object) => Promise<ServiceAnswer>;

const WITHIN_MS = 3_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** `address`: without a trailing slash. `withinMs`: for the whole response. */
export function createWebhookService(
  address: string,
  { withinMs = WITHIN_MS, mostBytes = MAX_BYTES } = {},
): WebhookService {
  return async (path, body) => {
    const signal = AbortSignal.timeout(withinMs);
    const init =
      body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    try {
      const response = await fetch(address + path, { ...init, redirect: 'manual', signal });
      const bytes = await readUpTo(mostBytes, response);
      if (bytes === undefined) return { kind: 'huge', mostBytes };
      return { kind: 'answered', status: response.status, body: parse(bytes) };
    } catch (error) {
      if (signal.aborted) return { kind: 'late', withinMs };
      return { kind: 'away', code: codeOf(error) };
    }
  };
}

/** Counts decoded octets: a small compressed body may expand to a large one. */
async function readUpTo(most: number, { body }: Response): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined; // the caller refuses a body that is not JSON, like any other unexpected body
  }
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  return typeof code === 'string' ? code : 'cut off';
}
