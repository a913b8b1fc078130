// Sends write requests to the admin API, with the token and a Content-Length.
import type { Answer, Client } from './http-client.ts';

export interface AdminWrite {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  /** Added to the default headers; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export function adminWriter(client: Client, token: string): (write: AdminWrite) => Promise<Answer> {
  return ({ method, path, body, headers = {} }) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const fields: Record<string, string | undefined> = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      // Node sends no length for the body of a DELETE.
      'content-length': String(Buffer.byteLength(text)),
      ...headers,
    };
    const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
    return client.ask({ method, path, headers: Object.fromEntries(given), body: text });
  };
}
