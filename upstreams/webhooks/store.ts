// What the service keeps, as a port: subscriptions, events, deliveries and who is due when.
// Two forms: sqlite/ for one machine, redis/ for several. One contract suite holds both to what is said here.
import type { Delivery, DeliveryState, EpochMs, KeptEvent } from './delivery.ts';
import type { Health } from './health.ts';
import type { Subscription } from './subscription.ts';

/**
 * Makes the next form of a record. The same object: nothing is written. May be called more than once, when another was
 * faster.
 */
export type Change<T> = (present: T) => T;

export interface WebhookStore {
  /** For people: `sqlite` or `redis`. */
  readonly kind: string;
  readonly subscriptions: SubscriptionRecords;
  readonly deliveries: DeliveryRecords;
  readonly health: HealthRecords;
  /**
   * Keeps the event and its deliveries together; when it resolves they survive kill -9 and, with a store that syncs, the
   * loss of power. `known`: an event of that id is kept already, and nothing was written.
   */
  readonly keep: (event: KeptEvent, deliveries: readonly Delivery[]) => Promise<'kept' | 'known'>;
  readonly event: (id: string) => Promise<KeptEvent | undefined>;
  /** Calls `handle` for each delivery that is due, on this process, until the work is stopped. */
  readonly work: (handle: Handle, options: WorkOptions) => Work;
  /** Forgets what was finished before then. */
  readonly forget: (before: EpochMs) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface SubscriptionRecords {
  readonly add: (subscription: Subscription) => Promise<void>;
  readonly read: (id: string) => Promise<Subscription | undefined>;
  /** As it is after the change; undefined where there is none. */
  readonly change: (id: string, change: Change<Subscription>) => Promise<Subscription | undefined>;
  /** With its deliveries and its health. False where there was none. */
  readonly remove: (id: string) => Promise<boolean>;
  /** The oldest first. */
  readonly ofOwner: (owner: string) => Promise<readonly Subscription[]>;
  /** Those enabled that want events of this type. */
  readonly wanting: (type: string) => Promise<readonly Subscription[]>;
  readonly all: () => Promise<readonly Subscription[]>;
}

export interface DeliveryPage {
  readonly total: number;
  readonly items: readonly Delivery[];
}

export interface DeliveryRecords {
  readonly read: (id: string) => Promise<Delivery | undefined>;
  /** As it is after the change; one that becomes pending by it is due again. Undefined where there is none. */
  readonly change: (id: string, change: Change<Delivery>) => Promise<Delivery | undefined>;
  /** Of one subscription, the newest first. */
  readonly page: (
    subscription: string,
    cut: { readonly state?: DeliveryState; readonly offset: number; readonly limit: number },
  ) => Promise<DeliveryPage>;
  readonly counts: () => Promise<Readonly<Record<DeliveryState, number>>>;
  /** When the pending one that has waited longest was due; undefined where none is pending. */
  readonly oldestDue: () => Promise<EpochMs | undefined>;
}

export interface HealthRecords {
  /** `WELL` of an endpoint that nothing is kept of. */
  readonly read: (subscription: string) => Promise<Health>;
  readonly change: (subscription: string, change: Change<Health>) => Promise<Health>;
}

/** What has become of a due delivery: nothing more to do, or due again then. The record says the same. */
export type Next = { readonly kind: 'finished' } | { readonly kind: 'later'; readonly at: EpochMs };

/** Rejects when nothing is known of it: it is due again, soon. */
export type Handle = (delivery: string) => Promise<Next>;

export interface WorkOptions {
  /** How many at once. */
  readonly concurrency: number;
  /** A process that has not finished after this is taken for dead, and another one begins anew. */
  readonly leaseMs: number;
  readonly onFault: (error: unknown) => void;
}

export interface Work {
  /** Takes nothing new; resolves when what runs has ended. */
  readonly stop: () => Promise<void>;
}

/** The store cannot be reached now; what was asked may or may not have been done. */
export class StoreAway extends Error {
  constructor(cause: unknown) {
    super('the store is away', { cause });
  }
}
