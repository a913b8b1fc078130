// A TLS client that reports how its handshake ended: the certificate, or the alert.
import { X509Certificate } from 'node:crypto';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

export interface Shaken {
  /** The alert or the system's error; undefined if the handshake succeeded. */
  readonly error: string | undefined;
  readonly protocol: string | undefined;
  readonly alpn: string | undefined;
  readonly fingerprint: string | undefined;
  readonly resumed: boolean;
  readonly socket: TLSSocket;
}

/** Does not verify certificates; sends no SNI by default. The caller must call `destroy` on the socket. */
export function shake(port: number, options: ConnectionOptions = {}): Promise<Shaken> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: '',
    rejectUnauthorized: false,
    ...options,
  });
  return new Promise((resolve) => {
    // After a failed handshake Node has freed the session, and its getters throw.
    const fail = (error: string): void =>
      resolve({
        error,
        protocol: undefined,
        alpn: undefined,
        fingerprint: undefined,
        resumed: false,
        socket,
      });
    socket.once('secureConnect', () =>
      resolve({
        error: undefined,
        protocol: socket.getProtocol() ?? undefined,
        alpn: socket.alpnProtocol || undefined,
        fingerprint: socket.getPeerX509Certificate()?.fingerprint256,
        resumed: socket.isSessionReused(),
        socket,
      }),
    );
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    socket.once('close', () => fail('closed without an alert'));
  });
}

export function fingerprintOf({ cert }: { readonly cert: string }): string {
  return new X509Certificate(cert).fingerprint256;
}
