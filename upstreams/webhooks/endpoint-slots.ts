// How many attempts run at once at one endpoint, and for one owner: so that neither a slow endpoint nor many of one owner's
// take the room of others. Asked by deliver.ts before each attempt; those without a slot come again later, spread over the
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
  readonly take: (endpoint: { readonly id: string; readonly owner: string }, now: EpochMs) => Slot;
}

export interface Room {
  readonly perEndpoint: number;
  readonly perOwner: number;
}

export function createEndpointSlots({ perEndpoint, perOwner }: Room): EndpointSlots {
  const [endpoints, owners] = [createRows(perEndpoint), createRows(perOwner)];
  return {
    take: ({ id, owner }, now) => {
      const until = endpoints.untilFree(id, now) ?? owners.untilFree(owner, now);
      if (until !== undefined) return { kind: 'full', until };
      const held = [endpoints.hold(id, now), owners.hold(owner, now)];
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
