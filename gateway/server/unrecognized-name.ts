// The end of a handshake whose client named a host that no certificate is for: the alert of RFC 6066 section 3 (TLS-3).
// Asked by tls-options.ts. Node has no way to say this alert, and would break the connection off without a word.
import type { Socket } from 'node:net';

type Answer = (error: Error | null) => void;

export interface NameRefusal {
  /** To be told of each connection before its handshake. */
  readonly track: (raw: Socket) => void;
  /** `secured` is what Node calls the name callback on: the TLS socket around a tracked connection. */
  readonly refuse: (secured: unknown, answer: Answer) => void;
}

/**
 * A fatal `unrecognized_name` as a TLS record. Nothing is encrypted at this point: the name is judged before the first
 * octet of the server's, or after no more than a HelloRetryRequest.
 */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

export function createNameRefusal(): NameRefusal {
  const open = new Map<string, Socket>();
  return {
    track: (raw) => {
      const key = endOf(raw);
      if (key === undefined) return;
      open.set(key, raw);
      raw.once('close', () => {
        if (open.get(key) === raw) open.delete(key);
      });
    },
    refuse: (secured, answer) => {
      const key = endOf(secured);
      const raw = key === undefined ? undefined : open.get(key);
      const end = (): void => answer(new Error('unrecognized_name'));
      if (raw?.writable) raw.write(ALERT, end);
      else end();
    },
  };
}

/** What tells the connections of one listener apart. */
function endOf(socket: unknown): string | undefined {
  if (typeof socket !== 'object' || socket === null) return undefined;
  const { remoteAddress, remotePort } = socket as Partial<Socket>;
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}
