// The ports of the exchange: clocks, the plan in force, stores, limits and authenticators.
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

/** A judgement yields the promise of a port that cannot answer synchronously. `decide` resumes it with the value. */
export type Judging<Result> = Generator<Promise<unknown>, Result, unknown>;

/** Inside a judgement: `const value = yield* awaited(promise)`. */
export function* awaited<Value>(promise: Promise<Value>): Judging<Value> {
  return (yield promise) as Value;
}

export interface ExchangePorts {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  /** The real clock, for instants shown to clients that are not lifecycle dates. */
  readonly wallClock: () => EpochMs;
  readonly monotonic: () => MonotonicMs;
  /** Counts per client address, in this gateway only. */
  readonly guard: (clientAddress: string, limit: Limit) => MaybePromise<Taken>;
  readonly limiter: RateLimiter;
  readonly pins: PinStore;
  readonly idempotency: IdempotencyStore;
  readonly adoption: Adoption;
  /** Undefined if calls are not recorded. */
  readonly ledger: Pick<LedgerStore, 'read'> | undefined;
  /** The array is the same object until its content changes. */
  readonly overrides: () => readonly Override[];
  /** The trace of a request with these fields, or undefined. Absent: tracing is off. */
  readonly beginTrace?: (headers: Fields) => Trace | undefined;
  readonly authenticators: ReadonlyMap<string, Authenticator>;
  /** Called for a fault that does not fail the request. */
  readonly onFault: (fault: Fault, facts: ExchangeFacts) => void;
  /** For Strict-Transport-Security on TLS responses. */
  readonly hstsSeconds: number | undefined;
}
