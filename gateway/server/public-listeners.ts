// The public face: the TLS listener and the plain one, opened together or not at all.
// Called by gateway.ts once everything a request needs is there.
import type { Address, Settings } from '../plan/settings.ts';
import type { Certificates } from './certificates.ts';
import { createProxyListener, type ProxyListener, type ProxyListenerOptions } from './proxy-listener.ts';

export interface PublicListeners {
  readonly listeners: readonly ProxyListener[];
  /** As bound: a configured port 0 is a real port here. */
  readonly https: { readonly address: Address } | undefined;
  readonly http: { readonly address: Address; readonly mode: 'reject' | 'serve' } | undefined;
}

/** @throws the system's error when an address cannot be bound; the listeners opened before are closed again */
export async function openPublicListeners(
  { https, http }: Settings['listeners'],
  certificates: Certificates | undefined,
  shared: Pick<
    ProxyListenerOptions,
    'trustedProxies' | 'exchange' | 'observer' | 'forwarder' | 'websockets' | 'now'
  >,
): Promise<PublicListeners> {
  const listeners: ProxyListener[] = [];
  const open = async (options: Omit<ProxyListenerOptions, keyof typeof shared>): Promise<Address> => {
    const listener = createProxyListener({ ...shared, ...options });
    const port = await listener.listen();
    listeners.push(listener);
    return { host: options.address.host, port };
  };
  try {
    const secure =
      https && certificates && (await open({ address: https.address, certificates, mode: 'serve' }));
    const plain = http && (await open({ address: http.address, mode: http.mode }));
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
