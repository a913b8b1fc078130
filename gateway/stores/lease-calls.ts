// Leases by key and the store calls that fetch them: one call at a time per key, shared by all waiting takes.
import type { MonotonicMs } from '../policy/contract.ts';
import type { Limit, RateLimitStore, Take, Taken } from '../policy/rate-limit/limit.ts';
import { type LeaseAccount, openLeaseAccount } from './lease-account.ts';
import type { StoreDeadline } from './store-deadline.ts';

export interface LeaseEntry {
  readonly account: LeaseAccount;
  /** The pending store call for this key alone. */
  flight: Promise<void> | undefined;
  /** Units of the waiting takes, so that one call serves all of them. */
  queued: number;
  /** Units of all takes that have left the queue. */
  dequeued: number;
}

export interface LeaseRequest {
  readonly take: Take;
  readonly entry: LeaseEntry;
}

export interface LeaseEntries {
  readonly requestOf: (take: Take) => LeaseRequest;
  /** Makes this key the last one to be evicted. */
  readonly keepNewest: (wanted: LeaseRequest) => void;
}

/** At most `maxLeases` keys. The key that has been without a call for the longest time is evicted. */
export function createLeaseEntries(maxLeases: number): LeaseEntries {
  const entries = new Map<string, LeaseEntry>();

  const keep = (key: string, entry: LeaseEntry): void => {
    entries.delete(key);
    const oldest = entries.size >= maxLeases ? entries.keys().next() : undefined;
    if (oldest?.done === false) entries.delete(oldest.value);
    entries.set(key, entry);
  };

  return {
    requestOf: (take) => {
      const known = entries.get(take.key);
      if (known !== undefined && isSame(known.account.limit, take.limit)) return { take, entry: known };
      const entry: LeaseEntry = {
        account: openLeaseAccount(take.limit),
        flight: undefined,
        queued: 0,
        dequeued: 0,
      };
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

export interface LeaseCalls {
  /** Fetches a lease for this take and for other waiting takes, up to `atMost` units. */
  readonly fetch: (wanted: LeaseRequest, atMost: number) => Promise<void>;
  /** Fetches the next lease ahead of time if one is due, for waiting takes up to `atMost` units. */
  readonly renew: (wanted: LeaseRequest, atMost: number) => void;
}

export interface LeaseCallOptions {
  readonly entries: LeaseEntries;
  readonly now: () => MonotonicMs;
  readonly startDeadline: () => StoreDeadline;
}

/** Calls reject as `inner` does. After the deadline no further call follows. */
export function createLeaseCalls(
  inner: Pick<RateLimitStore, 'take'>,
  { entries, now, startDeadline }: LeaseCallOptions,
): LeaseCalls {
  const fetchOne = async ({ entry, take }: LeaseRequest, need: number, atMost: number): Promise<void> => {
    using deadline = startDeadline();
    const { account } = entry;
    const wantedByAll = (): number => account.missing(Math.min(entry.queued, atMost));
    let units = account.sizeFor(need, wantedByAll(), now());
    while (units > 0) {
      const sentAt = now();
      const taken = await inner.take({ key: take.key, limit: account.limit, cost: units });
      account.expire(now());
      account.recordAnswer(taken, units, sentAt);
      if (taken.allowed || units <= need || taken.remaining < need || deadline.expired) return;
      units = Math.max(need, Math.min(units - 1, taken.remaining, wantedByAll()));
    }
  };

  const startCall = (wanted: LeaseRequest, need: number, atMost: number): Promise<void> => {
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
      wanted.entry.flight ?? startCall(wanted, wanted.entry.account.missing(wanted.take.cost), atMost),
    renew: (wanted, atMost) => {
      if (wanted.entry.flight !== undefined || !wanted.entry.account.takeRenewal(now())) return;
      // Waiting takes get the failure from `flight`.
      startCall(wanted, 0, atMost).catch(() => undefined);
    },
  };
}

/**
 * Calls for several keys of one request, for all or none, so that no key loses units if another refuses.
 * Requests with the same keys share one call. It fetches units for as many of them as the store can serve.
 * Rejects as `inner` does. After the deadline no further call follows.
 */
export function createFetchTogether(
  inner: Pick<RateLimitStore, 'takeAll'>,
  { entries, now, startDeadline }: LeaseCallOptions,
): (wanted: readonly LeaseRequest[]) => Promise<void> {
  const flights = new Map<string, Promise<void>>();

  const fetchSeveral = async (wanted: readonly LeaseRequest[]): Promise<void> => {
    using deadline = startDeadline();
    const at = now();
    let times = Math.max(1, Math.min(...wanted.map((each) => timesWanted(each, at))));
    for (;;) {
      const sentAt = now();
      const units = wanted.map((each) => ({ ...each.take, cost: missingFor(each, times) }));
      const answers = await inner.takeAll(units);
      const allowed = answers.every((answer) => answer?.allowed);
      for (const [index, { entry }] of wanted.entries()) {
        const answer = answers[index];
        // If one key refuses, the units of the others were returned.
        if (answer === undefined || answer.allowed !== allowed) continue;
        entry.account.expire(now());
        entry.account.recordAnswer(answer, units[index]?.cost ?? 0, sentAt);
      }
      if (allowed || times === 1 || deadline.expired) return;
      times = Math.max(
        1,
        Math.min(times - 1, ...wanted.map((each, index) => timesLeft(each, answers[index]))),
      );
    }
  };

  return (wanted) => {
    const name = wanted.map(({ take }) => `${take.key} ${take.cost}`).join('\n');
    const underWay = flights.get(name);
    if (underWay !== undefined) return underWay;
    for (const each of wanted) entries.keepNewest(each);
    const flight = fetchSeveral(wanted).finally(() => flights.delete(name));
    flights.set(name, flight);
    return flight;
  };
}

function missingFor({ entry, take }: LeaseRequest, times: number): number {
  return Math.max(1, take.cost * times - entry.account.held());
}

function timesWanted({ entry: { account, queued }, take: { cost } }: LeaseRequest, at: number): number {
  const size = account.sizeFor(account.missing(cost), account.missing(queued), at);
  return Math.floor((account.held() + size) / cost);
}

function timesLeft({ entry, take }: LeaseRequest, answer: Taken | undefined): number {
  return Math.floor((entry.account.held() + (answer?.remaining ?? Number.POSITIVE_INFINITY)) / take.cost);
}
