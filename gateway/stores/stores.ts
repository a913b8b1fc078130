// The ports of a store, and the options that open one.
import type { KeyStore } from '../policy/authentication/key-record.ts';
import type { EpochMs, MaybePromise, MonotonicMs } from '../policy/contract.ts';
import type { IdempotencyStore } from '../policy/idempotency/rules.ts';
import type { OverrideStore } from '../policy/lifecycle/override.ts';
import type { Limit, RateLimiter, Taken } from '../policy/rate-limit/limit.ts';
import type { PinStore } from '../policy/versioning/pin.ts';
import type { Backup } from './embedded/backup.ts';
import type { Ports } from './ports.ts';
import type { NotifyWorkers } from './workers/primary-stores.ts';
import type { StoreAnswers, StoreStart } from './workers/store-messages.ts';

export interface StoreOptions {
  readonly store:
    | { readonly kind: 'embedded'; readonly folder: string }
    | { readonly kind: 'redis'; readonly url: string };
  /** Folder for the last known state of Redis, used at the next start; undefined: none is kept. */
  readonly dataFolder?: string;
  /** The most milliseconds that Redis may add to a request; default 50. */
  readonly storeTimeoutMs?: number;
  readonly replicas: number;
  readonly monotonic: () => MonotonicMs;
  /** Called once per change, and at start. */
  readonly onState: (up: boolean) => void;
  /** Gets unexpected errors, not outages of the store, for the log. */
  readonly onFault: (error: unknown) => void;
  /** Notifies the workers of this process, if there are any; resolves when they have acknowledged. */
  readonly notifyWorkers?: NotifyWorkers;
}

export interface Stores extends Ports {
  readonly limiter: RateLimiter;
  /** Buckets per client address, always local to this gateway. */
  readonly guard: (clientAddress: string, limit: Limit) => MaybePromise<Taken>;
  readonly pins: PinStore;
  readonly keys: KeyStore;
  readonly idempotency: IdempotencyStore;
  readonly overrides: OverrideStore;
  /** Copies the state into the data folder; undefined for Redis. Rejects with `StoreUnavailable`. */
  readonly backup: ((at: EpochMs) => Promise<Backup>) | undefined;
  readonly answers: StoreAnswers;
  readonly start: () => StoreStart;
  /** Resolves when pending calls are done and all timers and connections are closed. */
  readonly close: () => Promise<void>;
}

/** The state that outlives a process. */
export type PersistentStores = Pick<
  Stores,
  'pins' | 'keys' | 'idempotency' | 'overrides' | keyof Ports | 'close'
>;
