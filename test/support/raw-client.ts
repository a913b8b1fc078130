// A client that sends raw bytes, for requests that a normal client would repair or refuse to send.
import { connect as plainConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';

export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; repeated lines joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly json: Readonly<Record<string, unknown>>;
  /** All bytes until the end of the connection. */
  readonly text: string;
}

/** A connection to a listener on this machine; `tls` (default) does not verify the certificate. */
export function openSocket(port: number, { tls = true }: { readonly tls?: boolean } = {}): Socket {
  const socket = tls
    ? tlsConnect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    : plainConnect(port, '127.0.0.1');
  // A reader sees a reset as an end.
  socket.on('error', () => undefined);
  return socket;
}

/** Sends `bytes` and reads until the gateway ends the connection. Rejects after twenty seconds. */
export async function sendBytes(
  port: number,
  bytes: string | Uint8Array,
  options: { readonly tls?: boolean } = {},
): Promise<RawAnswer> {
  const socket = openSocket(port, options);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  await new Promise<void>((resolve, reject) => {
    const limit = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection is still open after: ${Buffer.concat(chunks).toString('latin1')}`));
    }, 20_000);
    socket.once('close', () => {
      clearTimeout(limit);
      resolve();
    });
  });
  const text = Buffer.concat(chunks).toString('latin1');
  const split = text.indexOf('\r\n\r\n');
  const body = split === -1 ? '' : text.slice(split + 4);
  return {
    status: Number(text.split(' ', 2)[1]),
    headers: fieldsOf(text.slice(0, split)),
    body,
    get json() {
      return JSON.parse(body);
    },
    text,
  };
}

function fieldsOf(section: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of section.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    fields[name] = fields[name] === undefined ? value : `${fields[name]}, ${value}`;
  }
  return fields;
}

/** A request head from its lines; the blank line is added. */
export const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
