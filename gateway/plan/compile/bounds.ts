// Compiles the `bounds`, `overload` and `drain` sections and fills in their defaults.
import type { Bounds, DrainTimes, Overload, PlaneName } from '../bounds.ts';
import {
  WRITTEN_BOUNDS,
  WRITTEN_DRAIN,
  WRITTEN_OVERLOAD,
  wholeBounds,
  wholeDrain,
  wholeOverload,
} from '../grammar/bounds-section.ts';
import type { GatewayFile } from '../grammar/gateway-grammar.ts';

const BOUNDS = wholeBounds.parse(WRITTEN_BOUNDS);
const OVERLOAD = wholeOverload.parse(WRITTEN_OVERLOAD);
const DRAIN = wholeDrain.parse(WRITTEN_DRAIN);

type Sections = Pick<GatewayFile, 'bounds' | 'overload' | 'drain'>;

type Written<T> = { readonly [K in keyof T]?: T[K] | undefined };

export function compileBounds({ bounds }: Sections): Bounds {
  const written: Written<typeof BOUNDS> = bounds ?? {};
  const the = <K extends keyof typeof BOUNDS>(key: K): (typeof BOUNDS)[K] => written[key] ?? BOUNDS[key];
  return {
    headerBytes: the('header_bytes'),
    headerFields: the('header_fields'),
    targetBytes: the('target_bytes'),
    body: the('body'),
    connections: the('connections'),
    connectionsPerAddress: the('connections_per_address'),
    streams: the('streams'),
    resets: the('resets'),
    pipelined: the('pipelined'),
    headersMs: the('headers'),
    requestMs: the('request'),
    bodyRate: unlessOff(the('body_rate')),
    idleMs: the('idle'),
    unreadMs: the('unread'),
    websockets: the('websockets'),
    websocketsPerClient: the('websockets_per_client'),
    websocketIdleMs: unlessOff(the('websocket_idle')),
  };
}

export function planeOf(written: PlaneName | undefined, { bounds }: Sections): PlaneName {
  return written ?? bounds?.plane ?? WRITTEN_BOUNDS.plane;
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
