// Compiles the `bounds`, `overload` and `drain` sections and fills in their defaults.
import type { Bounds, DrainTimes, Overload, PlaneName } from '../bounds.ts';
import {
  BOUND_DEFAULTS,
  DRAIN_DEFAULTS,
  OVERLOAD_DEFAULTS,
  wholeBounds,
  wholeDrain,
  wholeOverload,
} from '../grammar/bounds-section.ts';
import type { GatewayFile } from '../grammar/gateway-grammar.ts';

const BOUNDS = wholeBounds.parse(BOUND_DEFAULTS);
const OVERLOAD = wholeOverload.parse(OVERLOAD_DEFAULTS);
const DRAIN = wholeDrain.parse(DRAIN_DEFAULTS);

type Sections = Pick<GatewayFile, 'bounds' | 'overload' | 'drain'>;

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

export function compileBounds({ bounds }: Sections): Bounds {
  const written: Optional<typeof BOUNDS> = bounds ?? {};
  const setting = <K extends keyof typeof BOUNDS>(key: K): (typeof BOUNDS)[K] => written[key] ?? BOUNDS[key];
  return {
    headerBytes: setting('header_bytes'),
    headerFields: setting('header_fields'),
    targetBytes: setting('target_bytes'),
    body: setting('body'),
    connections: setting('connections'),
    connectionsPerAddress: setting('connections_per_address'),
    streams: setting('streams'),
    resets: setting('resets'),
    pipelined: setting('pipelined'),
    headersMs: setting('headers'),
    requestMs: setting('request'),
    bodyRate: unlessOff(setting('body_rate')),
    idleMs: setting('idle'),
    unreadMs: setting('unread'),
    websockets: setting('websockets'),
    websocketsPerClient: setting('websockets_per_client'),
    websocketIdleMs: unlessOff(setting('websocket_idle')),
  };
}

export function planeOf(written: PlaneName | undefined, { bounds }: Sections): PlaneName {
  return written ?? bounds?.plane ?? BOUND_DEFAULTS.plane;
}

export function compileOverload({ overload: written }: Sections): Overload | undefined {
  if (written === 'off') return undefined;
  return { lagMs: written?.lag ?? OVERLOAD.lag, requests: written?.requests ?? OVERLOAD.requests };
}

export function compileDrain({ drain: written }: Sections): DrainTimes {
  return { waitMs: written?.wait ?? DRAIN.wait, timeoutMs: written?.timeout ?? DRAIN.timeout };
}

function unlessOff<T>(value: T | 'off'): T | undefined {
  return value === 'off' ? undefined : value;
}
