// What the exchange asks of the rest of the house: clocks, the plan in force, keys, limits.
import type { GatewayPlan } from '../plan/plan.ts';
import type { Authenticator } from '../policy/authentication/access.ts';
import type { EpochMs, Fields, MaybePromise, MonotonicMs } from '../policy/contract.ts';
import type { IdempotencyStore } from '../policy/idempotency/rules.ts';
import type { Override } from '../policy/lifecycle/override.ts';
import type { Limit, RateLimiter, Taken } from '../policy/rate-limit/limit.ts';
import type { Adoption, LedgerStore } from '../policy/usage/ledger.ts';
import type { PinStore } from '../policy/versioning/pin.ts';
import type { Fault } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';
import type { Trace } from './request-view.ts';

/** A judgement yields the promise of a port that cannot answer at once, and `decide` resumes it with the value. */
export type Judging<Result> = Generator<Promise<unknown>, Result, unknown>;

/** The value of `promise` inside a judgement: `yield* awaited(promise)`. */
export function* awaited<Value>(promise: Promise<Value>): Judging<Value> {
  return (yield promise) as Value;
}

export interface ExchangePorts {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  /** The real clock, for instants shown to clients that are not lifecycle dates. */
  readonly wallClock: () => EpochMs;
  readonly monotonic: () => MonotonicMs;
  /** Buckets per client address, of this gateway alone. */
  readonly guard: (clientAddress: string, limit: Limit) => MaybePromise<Taken>;
  readonly limiter: RateLimiter;
  readonly pins: PinStore;
  readonly idempotency: IdempotencyStore;
  readonly adoption: Adoption;
  /** Undefined if calls are not recorded. */
  readonly ledger: Pick<LedgerStore, 'read'> | undefined;
  /** The pauses known to this process; the same array until it changes. */
  readonly overrides: () => readonly Override[];
  /** The trace of a request with these fields; undefined: it has none. Absent: no request has. */
  readonly beginTrace?: (headers: Fields) => Trace | undefined;
  readonly authenticators: ReadonlyMap<string, Authenticator>;
  /** Called for a fault that is not that of the request, whose answer goes its way. */
  readonly onFault: (fault: Fault, facts: ExchangeFacts) => void;
  /** Seconds for Strict-Transport-Security on TLS answers. */
  readonly hstsSeconds: number | undefined;
}
