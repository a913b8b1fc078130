// Leases: takes many units from a store in one call and hands them out from memory, so that most requests wait for
// no store. Wraps any RateLimitStore; rate-limiter.ts asks it unless a rule says `exact`.

import { StoreUnavailable } from '../policy/contract.ts';
import type { Limit, RateLimitStore, Take, Taken } from '../policy/rate-limit/limit.ts';
import { type LeaseAccount, openLeaseAccount } from './lease-account.ts';

/** RL-13; the call under way has its own deadline. */
const DEFAULT_PATIENCE_MS = 50;
const DEFAULT_MAX_LEASES = 10_000;

interface Entry {
  readonly account: LeaseAccount;
  /** The one store call under way for this key. */
  flight: Promise<void> | undefined;
  /** Units wanted by the takes that wait for it. */
  queued: number;
}

interface Wanted {
  readonly take: Take;
  readonly entry: Entry;
}

/**
 * Serves takes from leases of `inner`. Only a cold or exhausted key waits, and all its takers wait for the same call;
 * a lease is renewed in the background at a quarter left and lives at most a second or a sixtieth of the window.
 * Refusals are answered from memory as long as the bucket cannot have filled. `remaining` counts the units held here
 * and those the store had at the last call. `now` is monotonic milliseconds. At most `maxLeases` keys (default
 * 10,000) are held: the longest without a call is given up, its units with it. A take that has waited for `patienceMs`
 * (default 50) begins no further call.
 */
export function createLeasingStore(
  inner: Pick<RateLimitStore, 'take'>,
  options: { readonly now: () => number; readonly maxLeases?: number; readonly patienceMs?: number },
): RateLimitStore {
  const { now, patienceMs = DEFAULT_PATIENCE_MS } = options;
  const maxLeases = options.maxLeases ?? DEFAULT_MAX_LEASES;
  const entries = new Map<string, Entry>();

  const entryFor = (key: string, limit: Limit): Entry => {
    const known = entries.get(key);
    if (known !== undefined && sameLimit(known.account.limit, limit)) return known;
    const entry: Entry = { account: openLeaseAccount(limit), flight: undefined, queued: 0 };
    keepNewest(key, entry);
    return entry;
  };

  const keepNewest = (key: string, entry: Entry): void => {
    entries.delete(key);
    const oldest = entries.size >= maxLeases ? entries.keys().next() : undefined;
    if (oldest?.done === false) entries.delete(oldest.value);
    entries.set(key, entry);
  };

  /** Asks for a lease that covers `need`; when fewer are left, for what the waiting takes can use of it. */
  const fetchLease = async (entry: Entry, key: string, need: number): Promise<void> => {
    const { account } = entry;
    const began = now();
    let asked = account.sizeFor(need, account.missing(entry.queued));
    for (let attempt = 1; asked > 0; attempt++) {
      const sentAt = now();
      const taken = await inner.take({ key, limit: account.limit, cost: asked });
      account.lapse(now());
      account.enter(taken, asked, sentAt);
      if (taken.allowed || asked <= need || taken.remaining < need) return;
      if (now() - began > patienceMs) throw new StoreUnavailable('the store answers too slowly');
      const usable = Math.min(asked - 1, taken.remaining, account.missing(entry.queued));
      asked = attempt === 1 ? Math.max(need, usable) : need;
    }
  };

  const fly = (entry: Entry, key: string, need: number): Promise<void> => {
    if (entries.get(key) === entry) keepNewest(key, entry);
    const flight = fetchLease(entry, key, need).finally(() => {
      entry.flight = undefined;
    });
    entry.flight = flight;
    return flight;
  };

  const takeAfterCall = async (entry: Entry, { key, cost }: Take): Promise<Taken> => {
    const began = now();
    entry.queued += cost;
    try {
      for (;;) {
        await (entry.flight ?? fly(entry, key, entry.account.missing(cost)));
        const taken = entry.account.take(cost, now());
        if (taken !== undefined) return taken;
        if (now() - began > patienceMs) throw new StoreUnavailable('the store answers too slowly');
      }
    } finally {
      entry.queued -= cost;
    }
  };

  const renew = (entry: Entry, key: string): void => {
    if (entry.flight !== undefined || !entry.account.claimRenewal()) return;
    // Its failure is told to whoever has come to wait for it; with nobody waiting the next call will tell.
    fly(entry, key, 0).catch(() => undefined);
  };

  /** From all leases or from none; undefined while one of them does not know. */
  const spendAll = (wanted: readonly Wanted[]): readonly (Taken | undefined)[] | undefined => {
    const at = now();
    for (const { entry } of wanted) entry.account.lapse(at);
    const seen = wanted.map(({ entry, take }) => entry.account.look(take.cost, at));
    if (seen.some((each) => each?.allowed === false)) return seen;
    if (seen.includes(undefined)) return undefined;
    return wanted.map(({ entry, take }) => {
      const taken = entry.account.take(take.cost, at);
      renew(entry, take.key);
      return taken;
    });
  };

  const fill = async ({ entry, take }: Wanted): Promise<void> => {
    entry.queued += take.cost;
    try {
      await (entry.flight ?? fly(entry, take.key, entry.account.missing(take.cost)));
    } finally {
      entry.queued -= take.cost;
    }
  };

  const spendAfterCalls = async (wanted: readonly Wanted[]): Promise<readonly (Taken | undefined)[]> => {
    const began = now();
    for (;;) {
      const empty = wanted.filter(({ entry, take }) => entry.account.missing(take.cost) > 0);
      // A unit leased beside a refusal lapses unused: who refused last is asked first, and alone.
      const doubtful = empty.filter(({ entry }) => entry.account.wasRefused());
      const calls = await Promise.allSettled((doubtful.length > 0 ? doubtful : empty).map(fill));
      const failed = calls.find((call) => call.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      const spent = spendAll(wanted);
      if (spent !== undefined) return spent;
      if (now() - began > patienceMs) throw new StoreUnavailable('the store answers too slowly');
    }
  };

  return {
    take: (take) => {
      const entry = entryFor(take.key, take.limit);
      const at = now();
      entry.account.lapse(at);
      const taken = entry.account.take(take.cost, at);
      if (taken === undefined) return takeAfterCall(entry, take);
      renew(entry, take.key);
      return taken;
    },
    takeAll: (takes) => {
      const wanted = takes.map((take) => ({ take, entry: entryFor(take.key, take.limit) }));
      return spendAll(wanted) ?? spendAfterCalls(wanted);
    },
  };
}

const sameLimit = (a: Limit, b: Limit): boolean =>
  a === b || (a.units === b.units && a.windowMs === b.windowMs && a.burst === b.burst);
