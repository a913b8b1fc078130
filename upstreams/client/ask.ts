// One request of the sample client to the gateway: over TLS, bounded in time and bytes, trusting the gateway's own certificate.
// Under the OAuth calls and the API calls.
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';

export interface Asked {
  readonly url: string;
  /** Sent as a POST of a form; undefined: a GET. */
  readonly form?: Readonly<Record<string, string>>;
  readonly authorization?: string;
}

export interface Told {
  readonly status: number;
  /** Lower-case names; of a repeated one all values, joined. */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined when the body is no JSON. */
  readonly json: unknown;
}

/** Rejects when there is no answer. */
export type Ask = (asked: Asked) => Promise<Told>;

const WITHIN_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** `trusted`: a PEM file with the certificate to trust, read each time as the gateway may make it later; without it, the system's. */
export function createAsk(trusted: string): Ask {
  return async ({ url, form, authorization }) => {
    const ca = await readFile(trusted).catch(() => undefined);
    const body = form && new URLSearchParams(form).toString();
    const headers = {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(authorization !== undefined && { authorization }),
    };
    const method = body === undefined ? 'GET' : 'POST';
    return new Promise((resolve, reject) => {
      const asking = request(
        url,
        { method, headers, ca, signal: AbortSignal.timeout(WITHIN_MS) },
        (answer) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MAX_BYTES) asking.destroy(new Error('the answer is longer than 1 MiB'));
            else chunks.push(chunk);
          });
          answer.once('error', reject);
          answer.once('end', () => {
            const lines = Object.entries(answer.headers).map(
              ([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')] as const,
            );
            const json = parse(Buffer.concat(chunks).toString('utf8'));
            resolve({ status: answer.statusCode ?? 0, headers: new Map(lines), json });
          });
        },
      );
      asking.once('error', reject);
      asking.end(body);
    });
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // whoever asked says what is wrong with an answer that is no JSON
  }
}
