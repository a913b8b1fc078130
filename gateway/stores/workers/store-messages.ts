// Messages between the stores of the primary and those of its workers, sent as structured clones.
import type { Override } from '../../policy/lifecycle/override.ts';
import type { Take, Taken } from '../../policy/rate-limit/limit.ts';
import type {
  FirstSeen,
  UsageBatch,
  UsageFilter,
  UsagePage,
  VersionConsumer,
} from '../../policy/usage/ledger.ts';
import type { Pin } from '../../policy/versioning/pin.ts';
import type { KeyOutcome, KeyState } from '../idempotency-records.ts';

export type StoreReply<T> =
  | { readonly kind: 'kept'; readonly value: T }
  | { readonly kind: 'away'; readonly reason: string };

export interface UsagePageRequest {
  readonly filter: UsageFilter;
  readonly page: { readonly after: string | undefined; readonly limit: number };
}

interface KeyRequest {
  readonly key: string;
  readonly owner: string;
}

export interface StoreAnswers {
  readonly take: (take: Take) => Taken;
  readonly takeAll: (takes: readonly Take[]) => readonly (Taken | undefined)[];
  readonly guard: (take: Take) => Taken;
  readonly findPin: (key: string) => Promise<StoreReply<Pin | undefined>>;
  readonly claimPin: (request: { readonly key: string; readonly pin: Pin }) => Promise<StoreReply<Pin>>;
  readonly findKey: (id: string) => Promise<StoreReply<string | undefined>>;
  readonly readUsage: (request: UsagePageRequest) => Promise<StoreReply<UsagePage>>;
  readonly addUsage: (batch: UsageBatch) => Promise<StoreReply<void>>;
  readonly firstUsage: (adopter: VersionConsumer) => Promise<StoreReply<FirstSeen>>;
  readonly claimKey: (request: KeyRequest & { readonly lockMs: number }) => Promise<StoreReply<KeyState>>;
  readonly settleKey: (request: KeyRequest & { readonly next: KeyOutcome }) => Promise<StoreReply<boolean>>;
}

export type StoreUpdate =
  | { readonly kind: 'overrides'; readonly overrides: readonly Override[] }
  | { readonly kind: 'key_changed'; readonly id: string }
  | { readonly kind: 'pin_moved'; readonly key: string }
  | { readonly kind: 'pin_claimed'; readonly key: string };

/** Initial state of a worker; undefined if the worker reads the store itself. */
export type StoreStart = Pick<Extract<StoreUpdate, { kind: 'overrides' }>, 'overrides'> | undefined;
