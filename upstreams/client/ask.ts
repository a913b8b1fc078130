// One HTTPS request of the sample client to the gateway, with limits on time and bytes; trusts the gateway's own certificate.
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';

export interface ClientRequest {
  readonly url: string;
  /** Sent as a form by POST; undefined: GET. */
  readonly form?: Readonly<Record<string, string>>;
  readonly authorization?: string;
}

export interface ClientResponse {
  readonly status: number;
  /** Names in lower case; repeated values are joined. */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

/** Rejects if no response comes. */
export type Ask = (request: ClientRequest) => Promise<ClientResponse>;

const WITHIN_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/**
 * `trusted`: a PEM file with the certificate to trust, read at each request, since the gateway may create it later. If it is
 * missing, the system's certificates count.
 */
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
    return undefined; // the caller reports a response that is not JSON
  }
}
