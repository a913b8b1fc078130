// Leases: takes many units from a store in one call and hands them out from memory, so that most requests wait for
// no store. Wraps any RateLimitStore; rate-limiter.ts asks it unless a rule says `exact`.
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
import { type StoreDeadline, startStoreDeadline } from './patience.ts';

/** RL-13. */
const DEFAULT_DEADLINE_MS = 50;
const DEFAULT_MAX_LEASES = 10_000;

export interface LeasingOptions {
  readonly now: () => MonotonicMs;
  /** Keys held at once; 10,000 where nothing is said. */
  readonly maxLeases?: number;
  /** How long a take begins further calls; 50 ms where nothing is said. */
  readonly startDeadline?: () => StoreDeadline;
}

/** An answer that may be older than the take; one that was asked for after it came; the last that it waits for. */
type WaitRound = 'earlier' | 'own' | 'last';

interface QueuePosition extends Disposable {
  /**
   * How many units there must have been, else the answer refuses this take. Of an answer of its own: for it and those before
   * it, less where somebody left out of turn. Of its last one: for all that wait, since it has no turn after that.
   */
  readonly requiredUnits: (round: WaitRound) => number;
}

/**
 * Takes from leases of `inner`. Only a cold or exhausted key waits, and all its takers wait for the same call. A lease that
 * is used is renewed in the background when a quarter of its units or of its life is left. Without that its units wait,
 * after a second or a sixtieth of the window, for the next call to confirm them: a key in use makes about one call in that
 * time. Refusals are answered from memory as long as the bucket cannot have filled. `remaining` counts the units held here
 * and those the store had at the last call. Rejects with `StoreUnavailable` when a further call would be needed too late for units that
 * are there; too many for what is there are refused, however slow the store: that is the limit, and no failure.
 */
export function createLeasedTake(
  inner: Pick<RateLimitStore, 'take'>,
  options: LeasingOptions,
): RateLimitStore['take'] {
  return openLeases(inner, withDefaults(options)).take;
}

/** The same for several keys at once, of which all are taken from or none. */
export function createLeasingStore(inner: RateLimitStore, options: LeasingOptions): RateLimitStore {
  const held = withDefaults(options);
  const { entries, now, startDeadline } = held;
  const { take, calls } = openLeases(inner, held);
  const fetchTogether = createFetchTogether(inner, held);

  /** From all leases or from none; undefined while one of them does not know. */
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
      // Who waits here needs other keys too, and fetches them together.
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
    // Who refused last is asked first: nothing has to go back then.
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
      // What was fetched for those that wait is theirs, however long it took to come.
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
      for (const { entry } of wanted) entry.account.lapse(at);
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
      wanted.entry.account.lapse(at);
      const taken = wanted.entry.account.take(take.cost, at);
      if (taken === undefined) return takeAfterCall(wanted);
      calls.renew(wanted, Number.POSITIVE_INFINITY);
      return taken;
    },
  };
}

/** Units of one key that what is leased of the others beside it can be spent with. */
function unitsBeside(one: LeaseRequest, wanted: readonly LeaseRequest[]): number {
  const others = wanted.filter((each) => each !== one);
  const requests = others.map(({ entry, take }) => Math.floor(entry.account.held() / take.cost));
  return Math.min(...requests) * one.take.cost;
}

const refusedLast = ({ entry }: LeaseRequest): number => Number(entry.account.wasRefused());

function tooSlow(): StoreUnavailable {
  return new StoreUnavailable('the store answers too slowly');
}

/** A place at the end of the line, until it is disposed of. */
function joinQueue({ entry, take: { cost } }: LeaseRequest): QueuePosition {
  entry.queued += cost;
  const throughHere = entry.left + entry.queued;
  return {
    requiredUnits: (round) => {
      switch (round) {
        case 'earlier':
          return 0;
        case 'own':
          return Math.max(cost, throughHere - entry.left);
        case 'last':
          return entry.queued;
        default:
          return round satisfies never;
      }
    },
    [Symbol.dispose]: () => {
      entry.queued -= cost;
      entry.left += cost;
    },
  };
}
