// What a gateway gets from its store, whichever it is, and what opening one takes.
// open-stores.ts opens either kind; gateway.ts hands the parts on.

import type { PublishedRecord } from '../plan/published-record.ts';
import type { OverrideStore } from '../policy/lifecycle/override.ts';
import type { Limit, RateLimiter, Taken } from '../policy/rate-limit/limit.ts';
import type { PinStore } from '../policy/versioning/pin.ts';

export interface StoreOptions {
  readonly store:
    | { readonly kind: 'embedded'; readonly folder: string }
    | { readonly kind: 'redis'; readonly url: string };
  /** Keeps what is known of a Redis for the next start; undefined: nothing is. */
  readonly dataFolder?: string;
  readonly replicas: number;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
  /** Called once per change, and at start. */
  readonly onState: (up: boolean) => void;
  /** Something failed that is nobody's absence: for the log. */
  readonly onFault: (error: unknown) => void;
}

export interface Stores {
  readonly limiter: RateLimiter;
  /** In-process buckets per client address. */
  readonly guard: (clientAddress: string, limit: Limit) => Taken;
  readonly pins: PinStore;
  readonly overrides: OverrideStore;
  readonly published: PublishedRecord;
  /** Ends when what was asked is done and nothing of the store runs any more. */
  readonly close: () => Promise<void>;
}

/** The part of a store that outlives requests. */
export type LastingStores = Pick<Stores, 'pins' | 'overrides' | 'published' | 'close'>;
