// How many attempts at one endpoint run at once, so that a slow one takes no room from the others.
// Asked by deliver.ts before each attempt; those without a slot come again later, spread over the time that it will take.
import type { EpochMs } from './delivery.ts';

/** However long the row is: an endpoint that has become fast again is not kept waiting. */
const LONGEST_WAIT_MS = 10_000;
const LEAST_STEP_MS = 2;

export type Slot =
  /** To be called once, with how long it was held. */
  | { readonly kind: 'free'; readonly release: (heldMs: number) => void }
  | { readonly kind: 'full'; readonly until: EpochMs };

export interface EndpointSlots {
  readonly take: (endpoint: string, now: EpochMs) => Slot;
}

export function createEndpointSlots(perEndpoint: number): EndpointSlots {
  /** `last`: when the last of those that wait comes again. Forgotten with the last attempt that runs. */
  const busy = new Map<string, { running: number; last: EpochMs; heldMs: number }>();
  return {
    take: (endpoint, now) => {
      const held = busy.get(endpoint) ?? { running: 0, last: now, heldMs: 0 };
      if (held.running >= perEndpoint) {
        const step = Math.max(LEAST_STEP_MS, held.heldMs / perEndpoint);
        held.last = Math.min(Math.max(held.last, now) + step, now + LONGEST_WAIT_MS);
        return { kind: 'full', until: Math.ceil(held.last) };
      }
      held.running += 1;
      busy.set(endpoint, held);
      return {
        kind: 'free',
        release: (heldMs) => {
          held.running -= 1;
          held.heldMs = heldMs;
          if (held.running === 0) busy.delete(endpoint);
        },
      };
    },
  };
}
