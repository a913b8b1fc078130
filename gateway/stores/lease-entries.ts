// What is leased of each key, for as many keys as may be held at once.
// lease-calls.ts fills it from the store, leases.ts spends it; lease-account.ts is the arithmetic of one key.
import type { Limit, Take } from '../policy/rate-limit/limit.ts';
import { type LeaseAccount, openLeaseAccount } from './lease-account.ts';

export interface Entry {
  readonly account: LeaseAccount;
  /** The one store call under way for this key alone. */
  flight: Promise<void> | undefined;
  /** Units wanted by the takes that wait. It has to stand while they do, or each call would serve one of them. */
  queued: number;
  /** Units of the takes that have waited and wait no more, all there ever were. */
  left: number;
}

/** A take, and what is leased of its key. */
export interface Wanted {
  readonly take: Take;
  readonly entry: Entry;
}

export interface LeaseEntries {
  readonly wantedOf: (take: Take) => Wanted;
  /** A key that is asked for now is the last one to be given up. */
  readonly keepNewest: (wanted: Wanted) => void;
}

/** At most `maxLeases` keys: the longest without a call is given up, its units with it. */
export function createLeaseEntries(maxLeases: number): LeaseEntries {
  const entries = new Map<string, Entry>();

  const keep = (key: string, entry: Entry): void => {
    entries.delete(key);
    const oldest = entries.size >= maxLeases ? entries.keys().next() : undefined;
    if (oldest?.done === false) entries.delete(oldest.value);
    entries.set(key, entry);
  };

  return {
    wantedOf: (take) => {
      const known = entries.get(take.key);
      if (known !== undefined && isSame(known.account.limit, take.limit)) return { take, entry: known };
      const entry: Entry = { account: openLeaseAccount(take.limit), flight: undefined, queued: 0, left: 0 };
      keep(take.key, entry);
      return { take, entry };
    },
    keepNewest: ({ take, entry }) => {
      if (entries.get(take.key) === entry) keep(take.key, entry);
    },
  };
}

const isSame = (a: Limit, b: Limit): boolean =>
  a === b || (a.units === b.units && a.windowMs === b.windowMs && a.burst === b.burst);
