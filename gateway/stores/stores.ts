// What a gateway gets from its store, whichever it is, and what opening one takes.
import type { PublishedRecord } from '../plan/published/record.ts';
import type { KeyStore } from '../policy/authentication/key-record.ts';
import type { MaybePromise, MonotonicMs } from '../policy/contract.ts';
import type { IdempotencyStore } from '../policy/idempotency/rules.ts';
import type { AnnouncedStore } from '../policy/lifecycle/announced.ts';
import type { OverrideStore } from '../policy/lifecycle/override.ts';
import type { Limit, RateLimiter, Taken } from '../policy/rate-limit/limit.ts';
import type { LedgerStore } from '../policy/usage/ledger.ts';
import type { PinStore } from '../policy/versioning/pin.ts';
import type { NotifyWorkers } from './workers/for-workers.ts';
import type { StoreAnswers, StoreStart } from './workers/spoken.ts';

export interface StoreOptions {
  readonly store:
    | { readonly kind: 'embedded'; readonly folder: string }
    | { readonly kind: 'redis'; readonly url: string };
  /** Keeps what is known of a Redis for the next start; undefined: nothing is. */
  readonly dataFolder?: string;
  /** The most that a Redis may add to a request; default 50. */
  readonly storeTimeoutMs?: number;
  readonly replicas: number;
  readonly monotonic: () => MonotonicMs;
  /** Called once per change, and at start. */
  readonly onState: (up: boolean) => void;
  /** Something failed that is nobody's absence: for the log. */
  readonly onFault: (error: unknown) => void;
  /** Tells the workers of this process, where it has any; resolves when they have heard. */
  readonly notifyWorkers?: NotifyWorkers;
}

export interface Stores {
  readonly limiter: RateLimiter;
  /** Buckets per client address, of this gateway alone whatever the store. */
  readonly guard: (clientAddress: string, limit: Limit) => MaybePromise<Taken>;
  readonly pins: PinStore;
  readonly keys: KeyStore;
  readonly idempotency: IdempotencyStore;
  readonly overrides: OverrideStore;
  readonly published: PublishedRecord;
  readonly ledger: LedgerStore;
  readonly announced: AnnouncedStore;
  /** What workers of this process may ask. */
  readonly answers: StoreAnswers;
  /** What a worker begins with. */
  readonly start: () => StoreStart;
  /** Ends when what was asked is done and nothing of the store runs any more. */
  readonly close: () => Promise<void>;
}

/** The part of a store that outlives requests. */
export type LastingStores = Pick<
  Stores,
  'pins' | 'keys' | 'idempotency' | 'overrides' | 'published' | 'ledger' | 'announced' | 'close'
>;
