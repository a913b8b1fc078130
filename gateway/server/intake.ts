// What the public listeners share: who the client is, and how much of everything all of them together may hold.
// Made once per process by public-listeners.ts; the admin listener has no part in it.

import type { IdleBound } from '../forward/open-tunnels.ts';
import type { Bounds, Overload } from '../plan/bounds.ts';
import type { MonotonicMs } from '../policy/contract.ts';
import type { BoundsReport } from '../telemetry/bounds-report.ts';
import { type Admission, createAdmission } from './admission.ts';
import { type ClientAddress, createClientAddress } from './client-address.ts';
import { createLoadGuard, type LoadGuard } from './overload.ts';
import { createSwitches, type Switches } from './switches.ts';

export interface Intake {
  readonly bounds: Bounds;
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => ClientAddress;
  readonly admission: Admission;
  readonly load: LoadGuard;
  readonly switches: Switches;
  /** Undefined: a WebSocket may be quiet for as long as it likes. */
  readonly idleWebsockets: IdleBound | undefined;
  readonly report: BoundsReport;
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

export function createIntake({
  bounds,
  overload,
  trustedProxies,
  report,
  monotonic,
  now,
}: IntakeOptions): Intake {
  const clientAddress = createClientAddress(trustedProxies);
  const admission = createAdmission({ bounds, clientAddress, report });
  const load = createLoadGuard({ overload, monotonic });
  report.watch({ lagMs: load.lagMs, requests: load.requests, connections: admission.open });
  const { websocketIdleMs: afterMs } = bounds;
  return {
    bounds,
    clientAddress,
    admission,
    load,
    switches: createSwitches({ bounds, report, now }),
    idleWebsockets:
      afterMs === undefined ? undefined : { afterMs, onIdle: () => report.refused('websocket_idle') },
    report,
  };
}
