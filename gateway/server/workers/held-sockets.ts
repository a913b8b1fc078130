// The sockets of the public listeners where workers accept on them: bound once, by the primary, and kept by it.
// Made by primary.ts; while no worker is left, connections wait in their queues for the next one.
import { lookup } from 'node:dns/promises';
import { BoundSocket, isIP } from 'node:net';
import type { Address, Settings } from '../../plan/settings.ts';
import type { PublicSockets } from '../public-face.ts';

export interface HeldSockets {
  /** To be given to every worker that is started. */
  readonly descriptors: readonly number[];
  /** Where a worker finds them, by listener. */
  readonly inWorker: PublicSockets;
  /** Nothing waits here any more: what workers accept on is theirs to close. */
  readonly release: () => void;
}

/** The first descriptor of a worker beyond its three streams and the wire to the primary. */
export const FIRST_DESCRIPTOR = 4;
const EVERY_IPV6_AND_IPV4 = '::';
const EVERY_IPV4 = '0.0.0.0';
const WITHOUT_IPV6: readonly unknown[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

/** @throws the system's error when an address cannot be bound; none is held then */
export async function holdSockets({ https, http }: Settings['listeners']): Promise<HeldSockets> {
  const sockets: BoundSocket[] = [];
  const release = (): void => {
    for (const socket of sockets.splice(0)) socket.close();
  };
  const hold = async (listener: { readonly address: Address } | undefined): Promise<number | undefined> => {
    if (listener === undefined) return undefined;
    return FIRST_DESCRIPTOR - 1 + sockets.push(await bind(listener.address));
  };
  try {
    const inWorker = { https: await hold(https), http: await hold(http) };
    return { inWorker, descriptors: sockets.map((socket) => socket.fd()), release };
  } catch (error) {
    release();
    throw error;
  }
}

async function bind({ host, port }: Address): Promise<BoundSocket> {
  if (host !== undefined) return new BoundSocket({ host: await numeric(host), port });
  try {
    return new BoundSocket({ host: EVERY_IPV6_AND_IPV4, port });
  } catch (error) {
    if (!(error instanceof Error && WITHOUT_IPV6.includes(Reflect.get(error, 'code')))) throw error;
    return new BoundSocket({ host: EVERY_IPV4, port });
  }
}

async function numeric(host: string): Promise<string> {
  return isIP(host) === 0 ? (await lookup(host)).address : host;
}
