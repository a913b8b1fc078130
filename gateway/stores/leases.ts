// Leases: takes many units from a RateLimitStore in one call and spends them from memory.
import { type MonotonicMs, StoreUnavailable } from '../policy/contract.ts';
import type { RateLimitStore, Taken } from '../policy/rate-limit/limit.ts';
import {
  createFetchTogether,
  createLeaseCalls,
  createLeaseEntries,
  type LeaseCallOptions,
  type LeaseCalls,
  type LeaseRequest,
} from './lease-calls.ts';
import { type StoreDeadline, startStoreDeadline } from './store-deadline.ts';

/** 50 ms: the most a store may add to a request (RL-13). */
const DEFAULT_DEADLINE_MS = 50;
const DEFAULT_MAX_LEASES = 10_000;

export interface LeasingOptions {
  readonly now: () => MonotonicMs;
  /** Keys held at once; default 10,000. */
  readonly maxLeases?: number;
  /** For how long a take starts further calls; default 50 ms. */
  readonly startDeadline?: () => StoreDeadline;
}

/**
 * Which answer the take waits for: of a call sent before the take came, of one sent after it, or the last
 * before the deadline.
 */
type WaitRound = 'earlier' | 'own' | 'last';

interface QueuePosition extends Disposable {
  /**
   * Units that the answer must have shown, or this take is refused. `own`: those of this take and of the
   * takes queued before it. `last`: those of all queued takes, since this take waits for no further answer.
   */
  readonly requiredUnits: (round: WaitRound) => number;
}

/**
 * Takes from leases of `inner`. Only takes of a cold or exhausted key wait, all for the same call. A lease in
 * use is renewed in the background when a quarter of its units or of its life is left. Otherwise its units
 * expire after a second or a sixtieth of the window, until a call confirms them. While the bucket cannot have
 * refilled, refusals come from memory. `remaining` counts the units held here and those that the store had at
 * the last call. If the store has too few units, the take is refused, however slow the store is. If the
 * deadline expires while the store may have enough units, the take rejects with `StoreUnavailable`.
 */
export function createLeasedTake(
  inner: Pick<RateLimitStore, 'take'>,
  options: LeasingOptions,
): RateLimitStore['take'] {
  return openLeases(inner, withDefaults(options)).take;
}

/** As `createLeasedTake`; `takeAll` takes from all keys or from none. */
export function createLeasingStore(inner: RateLimitStore, options: LeasingOptions): RateLimitStore {
  const held = withDefaults(options);
  const { entries, now, startDeadline } = held;
  const { take, calls } = openLeases(inner, held);
  const fetchTogether = createFetchTogether(inner, held);

  /** Takes from all leases or from none; undefined if one of them needs a call. */
  const spendAll = (
    wanted: readonly LeaseRequest[],
    at: number,
    required: readonly number[] = [],
  ): readonly (Taken | undefined)[] | undefined => {
    const seen = wanted.map(({ entry, take }, index) =>
      entry.account.preview(take.cost, at, required[index]),
    );
    if (seen.some((each) => each?.allowed === false)) return seen;
    if (seen.includes(undefined)) return undefined;
    return wanted.map((each) => {
      const taken = each.entry.account.take(each.take.cost, at);
      // Takes that wait for several keys fetch them together.
      calls.renew(each, 0);
      return taken;
    });
  };

  const fetchEmpty = (wanted: readonly LeaseRequest[]): Promise<void> => {
    const isEmpty = ({ entry, take }: LeaseRequest): boolean => entry.account.missing(take.cost) > 0;
    const empty = wanted.filter(isEmpty);
    const [only, second] = empty;
    if (only === undefined) return Promise.resolve();
    if (second === undefined) return calls.fetch(only, unitsBeside(only, wanted));
    // Keys that refused last come first: if they refuse again, no units have to be returned.
    return fetchTogether(empty.toSorted((a, b) => refusedLast(b) - refusedLast(a)));
  };

  const spendAfterCalls = async (
    wanted: readonly LeaseRequest[],
  ): Promise<readonly (Taken | undefined)[]> => {
    using deadline = startDeadline();
    using queue = new DisposableStack();
    const positions = wanted.map((each) => queue.use(joinQueue(each)));
    for (let round: WaitRound = 'earlier'; ; round = 'own') {
      await fetchEmpty(wanted);
      if (deadline.expired) round = 'last';
      const required = positions.map((position) => position.requiredUnits(round));
      // Fetched units belong to the waiting takes, however long the call took.
      const spent = spendAll(wanted, now(), required);
      if (spent !== undefined) return spent;
      if (round === 'last') throw tooSlow();
    }
  };

  return {
    take,
    takeAll: (takes) => {
      const wanted = takes.map(entries.requestOf);
      const at = now();
      for (const { entry } of wanted) entry.account.expire(at);
      return spendAll(wanted, at) ?? spendAfterCalls(wanted);
    },
  };
}

function withDefaults(options: LeasingOptions): LeaseCallOptions {
  const { now, maxLeases = DEFAULT_MAX_LEASES } = options;
  const { startDeadline = () => startStoreDeadline(DEFAULT_DEADLINE_MS) } = options;
  return { entries: createLeaseEntries(maxLeases), now, startDeadline };
}

function openLeases(
  inner: Pick<RateLimitStore, 'take'>,
  options: LeaseCallOptions,
): { readonly take: RateLimitStore['take']; readonly calls: LeaseCalls } {
  const { entries, now, startDeadline } = options;
  const calls = createLeaseCalls(inner, options);

  const takeAfterCall = async (wanted: LeaseRequest): Promise<Taken> => {
    const { entry, take } = wanted;
    using deadline = startDeadline();
    using position = joinQueue(wanted);
    for (let round: WaitRound = 'earlier'; ; round = 'own') {
      await calls.fetch(wanted, Number.POSITIVE_INFINITY);
      if (deadline.expired) round = 'last';
      const taken = entry.account.take(take.cost, now(), position.requiredUnits(round));
      if (taken !== undefined) return taken;
      if (round === 'last') throw tooSlow();
    }
  };

  return {
    calls,
    take: (take) => {
      const wanted = entries.requestOf(take);
      const at = now();
      wanted.entry.account.expire(at);
      const taken = wanted.entry.account.take(take.cost, at);
      if (taken === undefined) return takeAfterCall(wanted);
      calls.renew(wanted, Number.POSITIVE_INFINITY);
      return taken;
    },
  };
}

/** Units of one key that can be spent together with the leased units of the other keys. */
function unitsBeside(one: LeaseRequest, wanted: readonly LeaseRequest[]): number {
  const others = wanted.filter((each) => each !== one);
  const requests = others.map(({ entry, take }) => Math.floor(entry.account.held() / take.cost));
  return Math.min(...requests) * one.take.cost;
}

const refusedLast = ({ entry }: LeaseRequest): number => Number(entry.account.wasRefused());

function tooSlow(): StoreUnavailable {
  return new StoreUnavailable('the store answers too slowly');
}

/** A position at the end of the queue, until it is disposed of. */
function joinQueue({ entry, take: { cost } }: LeaseRequest): QueuePosition {
  entry.queued += cost;
  const queuedThroughHere = entry.dequeued + entry.queued;
  return {
    requiredUnits: (round) => {
      switch (round) {
        case 'earlier':
          return 0;
        case 'own':
          return Math.max(cost, queuedThroughHere - entry.dequeued);
        case 'last':
          return entry.queued;
        default:
          return round satisfies never;
      }
    },
    [Symbol.dispose]: () => {
      entry.queued -= cost;
      entry.dequeued += cost;
    },
  };
}
