// How many attempts run at once at one endpoint, at one host and for one owner: so that neither a slow host nor many endpoints
// of one owner take the room of others, and no host is called by all at once. Asked by deliver.ts before each attempt; those without a slot come again later, spread over the
// time that it will take.
import type { EpochMs } from './delivery.ts';

/** However long the row is: an endpoint that has become fast again is not kept waiting. */
const LONGEST_WAIT_MS = 10_000;
const LEAST_STEP_MS = 2;

export type Slot =
  /** To be called once, with how long it was held. */
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
  /** Of one destination, whoever subscribed there; one owner has at most half of it. */
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

/** Rows of those that wait, by the name of what they wait for. */
function createRows(most: number) {
  /** `last`: when the last of those that wait comes again. Forgotten with the last attempt that runs. */
  const busy = new Map<string, { running: number; last: EpochMs; heldMs: number }>();
  return {
    /** Undefined: now. Otherwise the next place in the row, which is taken by asking. */
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
