// Writes through the admin API as a program would: with the token, and JSON framed by its length.
// Tests of what is refused leave parts out or put others in their place.
import type { Answer, Client } from './http-client.ts';

export interface AdminWrite {
  readonly method: string;
  readonly path: string;
  /** Text is sent as it is. */
  readonly body: unknown;
  /** Over the good ones; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export function adminWriter(client: Client, token: string): (write: AdminWrite) => Promise<Answer> {
  return ({ method, path, body, headers = {} }) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const fields: Record<string, string | undefined> = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      // Node frames no body of a DELETE by itself.
      'content-length': String(Buffer.byteLength(text)),
      ...headers,
    };
    const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
    return client.ask({ method, path, headers: Object.fromEntries(given), body: text });
  };
}
