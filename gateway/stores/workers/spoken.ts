// What the stores of a primary and those of its workers say to each other; it crosses as structured clones.
import type { Override } from '../../policy/lifecycle/override.ts';
import type { Take, Taken } from '../../policy/rate-limit/limit.ts';
import type { Adopter, FirstSeen, UsageBatch, UsageFilter, UsagePage } from '../../policy/usage/ledger.ts';
import type { Pin } from '../../policy/versioning/pin.ts';
import type { SettledKey, StandingKey } from '../idempotency-records.ts';

/** What a store that may be away answered. */
export type StoreReply<T> =
  | { readonly kind: 'kept'; readonly value: T }
  | { readonly kind: 'away'; readonly reason: string };

/** A page of the ledger. */
export interface UsagePageRequest {
  readonly filter: UsageFilter;
  readonly page: { readonly after: string | undefined; readonly limit: number };
}

interface KeyRequest {
  readonly key: string;
  readonly owner: string;
}

/** What a worker asks the primary for. */
export interface StoreAnswers {
  readonly take: (take: Take) => Taken;
  readonly takeAll: (takes: readonly Take[]) => readonly (Taken | undefined)[];
  readonly guard: (take: Take) => Taken;
  readonly findPin: (key: string) => Promise<StoreReply<Pin | undefined>>;
  readonly claimPin: (request: { readonly key: string; readonly pin: Pin }) => Promise<StoreReply<Pin>>;
  /** The record of an API key, as it is kept. */
  readonly findKey: (id: string) => Promise<StoreReply<string | undefined>>;
  readonly readUsage: (request: UsagePageRequest) => Promise<StoreReply<UsagePage>>;
  readonly addUsage: (batch: UsageBatch) => Promise<StoreReply<void>>;
  readonly firstUsage: (adopter: Adopter) => Promise<StoreReply<FirstSeen>>;
  readonly claimKey: (request: KeyRequest & { readonly lockMs: number }) => Promise<StoreReply<StandingKey>>;
  readonly settleKey: (request: KeyRequest & { readonly next: SettledKey }) => Promise<StoreReply<boolean>>;
}

/** What the primary tells its workers of, unasked. */
export type StoreNews =
  | { readonly kind: 'overrides'; readonly overrides: readonly Override[] }
  | { readonly kind: 'key_changed'; readonly id: string }
  | { readonly kind: 'pin_moved'; readonly key: string }
  | { readonly kind: 'pin_claimed'; readonly key: string };

/** What a worker begins with; undefined where it finds out by itself. */
export type StoreStart = Pick<Extract<StoreNews, { kind: 'overrides' }>, 'overrides'> | undefined;
