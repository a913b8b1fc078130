// The port of the webhooks store: subscriptions, events, deliveries and their schedule; sqlite/ and redis/ implement it under one
// contract suite.
import type { Delivery, DeliveryState, EpochMs, KeptEvent } from './delivery.ts';
import type { Health } from './health.ts';
import type { Subscription } from './subscription.ts';

/**
 * Returns the next form of a record. If it returns the same object, nothing is written. May be called again after a concurrent
 * change.
 */
export type Change<T> = (present: T) => T;

export interface WebhookStore {
  /** For display: `sqlite` or `redis`. */
  readonly kind: string;
  readonly subscriptions: SubscriptionRecords;
  readonly deliveries: DeliveryRecords;
  readonly health: HealthRecords;
  /**
   * Stores the event and its deliveries together. When it resolves, they survive kill -9 and, with a store that syncs, a power
   * cut. `known`: an event of that id is stored already, and nothing was written.
   */
  readonly keep: (event: KeptEvent, deliveries: readonly Delivery[]) => Promise<'kept' | 'known'>;
  readonly event: (id: string) => Promise<KeptEvent | undefined>;
  /** Calls `handle` for each due delivery in this process until the work is stopped. */
  readonly work: (handle: Handle, options: WorkOptions) => Work;
  /** Deletes records that were finished before then. */
  readonly forget: (before: EpochMs) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface SubscriptionRecords {
  readonly add: (subscription: Subscription) => Promise<void>;
  readonly read: (id: string) => Promise<Subscription | undefined>;
  /** The record after the change; undefined if there is none. */
  readonly change: (id: string, change: Change<Subscription>) => Promise<Subscription | undefined>;
  /** Also removes its deliveries and health. False if there was none. */
  readonly remove: (id: string) => Promise<boolean>;
  /** Oldest first. */
  readonly ofOwner: (owner: string) => Promise<readonly Subscription[]>;
  /** Enabled subscriptions that want events of this type. */
  readonly wanting: (type: string) => Promise<readonly Subscription[]>;
  readonly all: () => Promise<readonly Subscription[]>;
}

export interface DeliveryPage {
  readonly total: number;
  readonly items: readonly Delivery[];
}

export interface DeliveryRecords {
  readonly read: (id: string) => Promise<Delivery | undefined>;
  /** The record after the change; undefined if there is none. A delivery that becomes pending is due again. */
  readonly change: (id: string, change: Change<Delivery>) => Promise<Delivery | undefined>;
  /** Deliveries of one subscription, the newest first. */
  readonly page: (
    subscription: string,
    cut: { readonly state?: DeliveryState; readonly offset: number; readonly limit: number },
  ) => Promise<DeliveryPage>;
  readonly counts: () => Promise<Readonly<Record<DeliveryState, number>>>;
  /** Due time of the pending delivery that has waited longest; undefined if none is pending. */
  readonly oldestDue: () => Promise<EpochMs | undefined>;
}

export interface HealthRecords {
  /** `HEALTHY` for an endpoint without a record. */
  readonly read: (subscription: string) => Promise<Health>;
  readonly change: (subscription: string, change: Change<Health>) => Promise<Health>;
}

/** The result for a due delivery: finished, or due again at `at`. The record says the same. */
export type Next = { readonly kind: 'finished' } | { readonly kind: 'later'; readonly at: EpochMs };

/** Rejects if the outcome is unknown; the delivery is then due again soon. */
export type Handle = (delivery: string) => Promise<Next>;

export interface WorkOptions {
  readonly concurrency: number;
  /** A process that has not finished after this time counts as dead, and another one starts again. */
  readonly leaseMs: number;
  readonly onFault: (error: unknown) => void;
}

export interface Work {
  /** Takes nothing new. Resolves when running calls have ended. */
  readonly stop: () => Promise<void>;
}

/** The store is unavailable; a call may or may not have been carried out. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the store is unavailable', { cause });
  }
}
