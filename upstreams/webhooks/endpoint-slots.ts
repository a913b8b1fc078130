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

export interface SlotLimits {
  readonly perEndpoint: number;
  readonly perOwner: number;
  /** Per host, over all owners. One owner has at most half of it. */
  readonly perHost: number;
}

export function createEndpointSlots({ perEndpoint, perOwner, perHost }: SlotLimits): EndpointSlots {
  const [endpoints, owners, hosts] = [
    createQueues(perEndpoint),
    createQueues(perOwner),
    createQueues(perHost),
  ];
  const shares = createQueues(Math.ceil(perHost / 2));
  return {
    take: ({ id, owner, url }, now) => {
      const host = URL.parse(url)?.host ?? url;
      const queues = [
        [endpoints, id],
        [owners, owner],
        [shares, `${host} ${owner}`],
        [hosts, host],
      ] as const;
      for (const [queue, name] of queues) {
        const until = queue.nextFreeAt(name, now);
        if (until !== undefined) return { kind: 'full', until };
      }
      const held = queues.map(([queue, name]) => queue.occupy(name, now));
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
function createQueues(most: number) {
  /** `last`: when the last waiting attempt returns. The entry is deleted with its last running attempt. */
  const entries = new Map<string, { running: number; last: EpochMs; heldMs: number }>();
  return {
    /** Undefined: a slot is free. Otherwise the next time in the queue; the call reserves it. */
    nextFreeAt: (name: string, now: EpochMs): EpochMs | undefined => {
      const queue = entries.get(name);
      if (queue === undefined || queue.running < most) return undefined;
      const step = Math.max(LEAST_STEP_MS, queue.heldMs / most);
      queue.last = Math.min(Math.max(queue.last, now) + step, now + LONGEST_WAIT_MS);
      return Math.ceil(queue.last);
    },
    occupy: (name: string, now: EpochMs): ((heldMs: number) => void) => {
      const queue = entries.get(name) ?? { running: 0, last: now, heldMs: 0 };
      queue.running += 1;
      entries.set(name, queue);
      return (heldMs) => {
        queue.running -= 1;
        queue.heldMs = heldMs;
        if (queue.running === 0) entries.delete(name);
      };
    },
  };
}
