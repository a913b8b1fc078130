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
  type Wanted,
} from './lease-calls.ts';
import { type Patience, startPatience } from './patience.ts';

/** RL-13. */
const DEFAULT_PATIENCE_MS = 50;
const DEFAULT_MAX_LEASES = 10_000;

export interface LeasingOptions {
  readonly now: () => MonotonicMs;
  /** Keys held at once; 10,000 where nothing is said. */
  readonly maxLeases?: number;
  /** How long a take begins further calls; 50 ms where nothing is said. */
  readonly patience?: () => Patience;
}

/** An answer that may be older than the take; one that was asked for after it came; the last that it waits for. */
type Heard = 'earlier' | 'own' | 'last';

interface Place extends Disposable {
  /**
   * How many units there must have been, else the answer refuses this take. Of an answer of its own: for it and those before
   * it, less where somebody left out of turn. Of its last one: for all that wait, since it has no turn after that.
   */
  readonly claim: (heard: Heard) => number;
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
  return openLeases(inner, settled(options)).take;
}

/** The same for several keys at once, of which all are taken from or none. */
export function createLeasingStore(inner: RateLimitStore, options: LeasingOptions): RateLimitStore {
  const held = settled(options);
  const { entries, now, patience } = held;
  const { take, calls } = openLeases(inner, held);
  const fetchTogether = createFetchTogether(inner, held);

  /** From all leases or from none; undefined while one of them does not know. */
  const spendAll = (
    wanted: readonly Wanted[],
    at: number,
    claims: readonly number[] = [],
  ): readonly (Taken | undefined)[] | undefined => {
    const seen = wanted.map(({ entry, take }, index) => entry.account.look(take.cost, at, claims[index]));
    if (seen.some((each) => each?.allowed === false)) return seen;
    if (seen.includes(undefined)) return undefined;
    return wanted.map((each) => {
      const taken = each.entry.account.take(each.take.cost, at);
      // Who waits here needs other keys too, and fetches them together.
      calls.renew(each, 0);
      return taken;
    });
  };

  const fetchEmpty = (wanted: readonly Wanted[]): Promise<void> => {
    const isEmpty = ({ entry, take }: Wanted): boolean => entry.account.missing(take.cost) > 0;
    const empty = wanted.filter(isEmpty);
    const [only, second] = empty;
    if (only === undefined) return Promise.resolve();
    if (second === undefined) return calls.fetch(only, unitsBeside(only, wanted));
    // Who refused last is asked first: nothing has to go back then.
    return fetchTogether(empty.toSorted((a, b) => refusedLast(b) - refusedLast(a)));
  };

  const spendAfterCalls = async (wanted: readonly Wanted[]): Promise<readonly (Taken | undefined)[]> => {
    using waiting = patience();
    using line = new DisposableStack();
    const places = wanted.map((each) => line.use(joinLine(each)));
    for (let heard: Heard = 'earlier'; ; heard = 'own') {
      await fetchEmpty(wanted);
      if (waiting.gone) heard = 'last';
      const claims = places.map((place) => place.claim(heard));
      // What was fetched for those that wait is theirs, however long it took to come.
      const spent = spendAll(wanted, now(), claims);
      if (spent !== undefined) return spent;
      if (heard === 'last') throw tooSlow();
    }
  };

  return {
    take,
    takeAll: (takes) => {
      const wanted = takes.map(entries.wantedOf);
      const at = now();
      for (const { entry } of wanted) entry.account.lapse(at);
      return spendAll(wanted, at) ?? spendAfterCalls(wanted);
    },
  };
}

function settled(options: LeasingOptions): LeaseCallOptions {
  const { now, maxLeases = DEFAULT_MAX_LEASES } = options;
  const { patience = () => startPatience(DEFAULT_PATIENCE_MS) } = options;
  return { entries: createLeaseEntries(maxLeases), now, patience };
}

function openLeases(
  inner: Pick<RateLimitStore, 'take'>,
  options: LeaseCallOptions,
): { readonly take: RateLimitStore['take']; readonly calls: LeaseCalls } {
  const { entries, now, patience } = options;
  const calls = createLeaseCalls(inner, options);

  const takeAfterCall = async (wanted: Wanted): Promise<Taken> => {
    const { entry, take } = wanted;
    using waiting = patience();
    using place = joinLine(wanted);
    for (let heard: Heard = 'earlier'; ; heard = 'own') {
      await calls.fetch(wanted, Number.POSITIVE_INFINITY);
      if (waiting.gone) heard = 'last';
      const taken = entry.account.take(take.cost, now(), place.claim(heard));
      if (taken !== undefined) return taken;
      if (heard === 'last') throw tooSlow();
    }
  };

  return {
    calls,
    take: (take) => {
      const wanted = entries.wantedOf(take);
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
function unitsBeside(one: Wanted, wanted: readonly Wanted[]): number {
  const others = wanted.filter((each) => each !== one);
  const requests = others.map(({ entry, take }) => Math.floor(entry.account.held() / take.cost));
  return Math.min(...requests) * one.take.cost;
}

const refusedLast = ({ entry }: Wanted): number => Number(entry.account.wasRefused());

function tooSlow(): StoreUnavailable {
  return new StoreUnavailable('the store answers too slowly');
}

/** A place at the end of the line, until it is disposed of. */
function joinLine({ entry, take: { cost } }: Wanted): Place {
  entry.queued += cost;
  const upToHere = entry.left + entry.queued;
  return {
    claim: (heard) => {
      switch (heard) {
        case 'earlier':
          return 0;
        case 'own':
          return Math.max(cost, upToHere - entry.left);
        case 'last':
          return entry.queued;
        default:
          return heard satisfies never;
      }
    },
    [Symbol.dispose]: () => {
      entry.queued -= cost;
      entry.left += cost;
    },
  };
}
