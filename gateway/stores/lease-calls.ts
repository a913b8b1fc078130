// The calls that fetch leases: one under way per key, and all who wait for it share it.
// leases.ts makes them when what is leased does not serve a take, and ahead of that.
import type { MonotonicMs } from '../policy/contract.ts';
import type { RateLimitStore } from '../policy/rate-limit/limit.ts';
import type { LeaseEntries, Wanted } from './lease-entries.ts';
import type { Patience } from './patience.ts';

export interface LeaseCalls {
  /** For one key: a lease that serves this take and, of those that wait for the key, as many as `atMost` units do. */
  readonly fetch: (wanted: Wanted, atMost: number) => Promise<void>;
  /** Fetches the next lease ahead when it is time; of those that wait for the key as many as `atMost` units serve are thought of. */
  readonly renew: (wanted: Wanted, atMost: number) => void;
}

export interface LeaseCallOptions {
  readonly entries: LeaseEntries;
  readonly now: () => MonotonicMs;
  readonly patience: () => Patience;
}

/** Calls reject with what `inner` rejects with. One that would be followed by another too late ends with what it has heard. */
export function createLeaseCalls(
  inner: Pick<RateLimitStore, 'take'>,
  { entries, now, patience }: LeaseCallOptions,
): LeaseCalls {
  const fetchOne = async ({ entry, take }: Wanted, need: number, atMost: number): Promise<void> => {
    using waiting = patience();
    const { account } = entry;
    const wantedByAll = (): number => account.missing(Math.min(entry.queued, atMost));
    let asked = account.sizeFor(need, wantedByAll(), now());
    while (asked > 0) {
      const sentAt = now();
      const taken = await inner.take({ key: take.key, limit: account.limit, cost: asked });
      account.lapse(now());
      account.enter(taken, asked, sentAt);
      if (taken.allowed || asked <= need || taken.remaining < need || waiting.gone) return;
      asked = Math.max(need, Math.min(asked - 1, taken.remaining, wantedByAll()));
    }
  };

  const fly = (wanted: Wanted, need: number, atMost: number): Promise<void> => {
    const { entry } = wanted;
    entries.keepNewest(wanted);
    const flight = fetchOne(wanted, need, atMost).finally(() => {
      entry.flight = undefined;
    });
    entry.flight = flight;
    return flight;
  };

  return {
    fetch: (wanted, atMost) =>
      wanted.entry.flight ?? fly(wanted, wanted.entry.account.missing(wanted.take.cost), atMost),
    renew: (wanted, atMost) => {
      if (wanted.entry.flight !== undefined || !wanted.entry.account.claimRenewal(now())) return;
      // Its failure is told to whoever has come to wait for it; with nobody waiting the next call will tell.
      fly(wanted, 0, atMost).catch(() => undefined);
    },
  };
}
