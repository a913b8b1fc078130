// Asks the webhooks service what became of its deliveries: within a time, no more than a size, and wherever it is sent nowhere else.

export type ServiceAnswer =
  /** `body`: its JSON, undefined for none. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  /** `code` of the system, without an address. */
  | { readonly kind: 'away'; readonly code: string }
  | { readonly kind: 'late'; readonly withinMs: number }
  | { readonly kind: 'huge'; readonly mostBytes: number };

/** `path` begins with a slash. Never rejects for what the service does. */
export type WebhookService = (path: string, body?: object) => Promise<ServiceAnswer>;

const WITHIN_MS = 3_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** `address` without a last slash; `withinMs` is for the whole answer. */
export function createWebhookService(
  address: string,
  { withinMs = WITHIN_MS, mostBytes = MOST_BYTES } = {},
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

/** Counted as they are after any coding: a small answer may unfold to a large one. */
async function readUpTo(most: number, { body }: Response): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop ends the connection.
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
