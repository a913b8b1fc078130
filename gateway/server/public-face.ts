// Everything that faces clients, as one: the bounds they share, the ways to a service, the listeners, and the end of it all.
// Opened by gateway.ts once everything a request needs is there.

import type { Exchange } from '../exchange/exchange.ts';
import { createForwarding } from '../forward/forwarding.ts';
import type { Upstreams } from '../forward/upstreams.ts';
import type { Settings } from '../plan/settings.ts';
import type { MonotonicMs } from '../policy/contract.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { drain } from './drain.ts';
import { createIntake } from './intake.ts';
import { openPublicListeners, type PublicListeners, type PublicSockets } from './public-listeners.ts';
import type { CertificateSource } from './tls-options.ts';

export interface PublicFace extends Pick<PublicListeners, 'https' | 'http'> {
  /** Drains as the settings say; false when something had to be cut. `onDraining` runs first. */
  readonly end: (onDraining: () => void) => Promise<boolean>;
}

export interface PublicFacePorts {
  readonly exchange: Exchange;
  readonly upstreams: Upstreams;
  readonly telemetry: Pick<Telemetry, 'observer' | 'metrics' | 'bounds'>;
  /** Milliseconds. */
  readonly monotonic: () => MonotonicMs;
  /** The real clock. */
  readonly now: () => number;
  /** Bound already; undefined: the listeners bind their own. */
  readonly sockets: PublicSockets | undefined;
}

/** @throws the system's error when an address cannot be bound; nothing is open then */
export async function openPublicFace(
  settings: Settings,
  certificates: CertificateSource | undefined,
  { exchange, upstreams, telemetry, monotonic, now, sockets }: PublicFacePorts,
): Promise<PublicFace> {
  const { observer, metrics, bounds } = telemetry;
  const intake = createIntake({ ...settings, report: bounds, monotonic, now });
  const { idleWebsockets } = intake;
  try {
    const { listeners, https, http } = await openPublicListeners(settings.listeners, certificates, sockets, {
      intake,
      sendsForwarded: settings.sendsForwarded,
      exchange,
      observer,
      ...createForwarding({ ...metrics, ...upstreams, exchange, idleWebsockets }),
      now,
    });
    return {
      https,
      http,
      end: (onDraining) => drain({ listeners, onDraining, ...settings.drain }).finally(intake.load.stop),
    };
  } catch (error) {
    intake.load.stop();
    throw error;
  }
}
