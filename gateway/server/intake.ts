// What the public listeners share: who the client is, and how much of everything all of them together may hold.
// Made once per process by public-face.ts; the admin listener has no part in it.
import type { Refusal } from '../exchange/directive.ts';
import type { Bounds, Overload } from '../plan/bounds.ts';
import type { IdleBound, Intake } from '../plane/port.ts';
import type { MonotonicMs } from '../policy/contract.ts';
import type { BoundsReport } from '../telemetry/bounds-report.ts';
import { createAdmission, createSwitches } from './admission.ts';
import { createClientAddress } from './client-address.ts';
import { createLoadGuard, type LoadGuard, overloaded } from './overload.ts';

export interface OpenIntake extends Intake {
  readonly load: LoadGuard;
  /** Undefined: a WebSocket may be quiet for as long as it likes. */
  readonly idleWebsockets: IdleBound | undefined;
}

export interface IntakeOptions {
  readonly bounds: Bounds;
  readonly overload: Overload | undefined;
  readonly trustedProxies: readonly string[];
  readonly report: BoundsReport;
  /** Milliseconds. */
  readonly monotonic: () => MonotonicMs;
  /** The real clock. */
  readonly now: () => number;
}

export function createIntake(options: IntakeOptions): OpenIntake {
  const { bounds, overload, trustedProxies, report, monotonic, now } = options;
  const clientAddress = createClientAddress(trustedProxies);
  const { admits, open } = createAdmission({ bounds, clientAddress, report });
  const load = createLoadGuard({ overload, monotonic });
  report.watch({ lagMs: load.lagMs, requests: load.requests, connections: open });
  const refuseForLoad = (): Refusal => overloaded(now());
  const { websocketIdleMs: afterMs } = bounds;
  return {
    bounds,
    clientAddress,
    admits,
    load,
    overloaded: refuseForLoad,
    takeWebsocket: createSwitches({ bounds, report, overloaded: refuseForLoad }),
    idleWebsockets:
      afterMs === undefined ? undefined : { afterMs, onIdle: () => report.refused('websocket_idle') },
    report,
  };
}
