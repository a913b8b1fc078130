// The public face: the TLS listener and the plain one, opened together or not at all.
// Called by public-face.ts, which knows what they share.
import type { Address, PlainMode, Settings } from '../plan/settings.ts';
import { createProxyListener, type ProxyListenerOptions } from '../plane/general/proxy-listener.ts';
import type { Listener } from '../plane/port.ts';
import { type CertificateSource, createTlsFace } from './tls-options.ts';

export interface PublicListeners {
  readonly listeners: readonly Listener[];
  /** As bound: a configured port 0 is a real port here. */
  readonly https: { readonly address: Address } | undefined;
  readonly http: { readonly address: Address; readonly mode: PlainMode } | undefined;
}

/** Descriptors of sockets that are bound already, by listener. */
export interface PublicSockets {
  readonly https: number | undefined;
  readonly http: number | undefined;
}

/**
 * `sockets`: those that are bound already.
 *
 * @throws the system's error when an address cannot be bound; the listeners opened before are closed again
 */
export async function openPublicListeners(
  { https, http }: Settings['listeners'],
  certificates: CertificateSource | undefined,
  sockets: PublicSockets | undefined,
  shared: Omit<ProxyListenerOptions, 'address' | 'socket' | 'tls' | 'mode'>,
): Promise<PublicListeners> {
  const listeners: Listener[] = [];
  const open = async (
    options: Pick<ProxyListenerOptions, 'address' | 'socket' | 'tls' | 'mode'>,
  ): Promise<Address> => {
    const listener = createProxyListener({ ...shared, ...options });
    const port = await listener.listen();
    listeners.push(listener);
    return { host: options.address.host, port };
  };
  try {
    const secure =
      https &&
      certificates &&
      (await open({
        address: https.address,
        socket: sockets?.https,
        tls: createTlsFace(certificates, shared.now),
        mode: 'serve',
      }));
    const plain =
      http && (await open({ address: http.address, socket: sockets?.http, tls: undefined, mode: http.mode }));
    return {
      listeners,
      https: secure && { address: secure },
      http: http && plain && { address: plain, mode: http.mode },
    };
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.stop()));
    throw error;
  }
}
