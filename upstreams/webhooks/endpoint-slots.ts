// Limits concurrent attempts per endpoint, host and owner, so that a slow host or an owner with many endpoints does not delay
// others; attempts without a slot return later, spread over the expected time.
import type { EpochMs } from './delivery.ts';

/** However long the queue is: an endpoint that has become fast again must not wait. */
const LONGEST_WAIT_MS = 10_000;
const LEAST_STEP_MS = 2;

export type Slot =
  /** Must be called once, with the time the slot was held. */
  | { readonly kind: 'free'; readonly release: (heldMs: number) => void }
  | { readonly kind: 'full'; readonly until: EpochMs };

export interface EndpointSlots {
  readonly take: (endpoint: Endpoint, now: EpochMs) => Slot;
}

export interface Endpoint {
  readonly id: string;
  readonly owner: string;
  readonly url: string;
}

export interface Room {
  readonly perEndpoint: number;
  readonly perOwner: number;
  /** Per host, over all owners. One owner has at most half of it. */
  readonly perHost: number;
}

export function createEndpointSlots({ perEndpoint, perOwner, perHost }: Room): EndpointSlots {
  const [endpoints, owners, hosts] = [createRows(perEndpoint), createRows(perOwner), createRows(perHost)];
  const shares = createRows(Math.ceil(perHost / 2));
  return {
    take: ({ id, owner, url }, now) => {
      const host = URL.parse(url)?.host ?? url;
      const rows = [
        [endpoints, id],
        [owners, owner],
        [shares, `${host} ${owner}`],
        [hosts, host],
      ] as const;
      for (const [row, name] of rows) {
        const until = row.untilFree(name, now);
        if (until !== undefined) return { kind: 'full', until };
      }
      const held = rows.map(([row, name]) => row.hold(name, now));
      return {
        kind: 'free',
        release: (heldMs) => {
          for (const release of held) release(heldMs);
        },
      };
    },
  };
}

/** Counts running attempts per name, and schedules those that wait. */
function createRows(most: number) {
  /** `last`: when the last waiting attempt returns. The entry is deleted with its last running attempt. */
  const busy = new Map<string, { running: number; last: EpochMs; heldMs: number }>();
  return {
    /** Undefined: a slot is free. Otherwise the next time in the queue; the call reserves it. */
    untilFree: (name: string, now: EpochMs): EpochMs | undefined => {
      const row = busy.get(name);
      if (row === undefined || row.running < most) return undefined;
      const step = Math.max(LEAST_STEP_MS, row.heldMs / most);
      row.last = Math.min(Math.max(row.last, now) + step, now + LONGEST_WAIT_MS);
      return Math.ceil(row.last);
    },
    hold: (name: string, now: EpochMs): ((heldMs: number) => void) => {
      const row = busy.get(name) ?? { running: 0, last: now, heldMs: 0 };
      row.running += 1;
      busy.set(name, row);
      return (heldMs) => {
        row.running -= 1;
        row.heldMs = heldMs;
        if (row.running === 0) busy.delete(name);
      };
    },
  };
}
