// The calls that fetch leases of several keys for one request: of all or of none, so that no key loses units for what
// another refuses. leases.ts makes them when more than one key of a request is empty.
import type { RateLimitStore, Taken } from '../policy/rate-limit/limit.ts';
import { type LeaseCallOptions, tooSlow } from './lease-calls.ts';
import type { Wanted } from './lease-entries.ts';

/**
 * Waits for the call under way for these keys, or makes one: as many times what the request wants as wait for it, as far as
 * they are there. Rejects as `inner` does, and with `StoreUnavailable` when a further call would be needed too late.
 */
export type FetchTogether = (wanted: readonly Wanted[]) => Promise<void>;

export function createFetchTogether(
  inner: Pick<RateLimitStore, 'takeAll'>,
  { entries, now, patience }: LeaseCallOptions,
): FetchTogether {
  const flights = new Map<string, Promise<void>>();

  const fetchSeveral = async (wanted: readonly Wanted[]): Promise<void> => {
    using waiting = patience();
    let times = Math.max(1, Math.min(...wanted.map(timesWanted)));
    for (;;) {
      const sentAt = now();
      const answers = await inner.takeAll(wanted.map(({ take }) => ({ ...take, cost: take.cost * times })));
      const allowed = answers.every((answer) => answer?.allowed);
      if (allowed || times === 1) {
        enterAll(wanted, answers, { times, allowed, sentAt });
        return;
      }
      if (waiting.gone) throw tooSlow();
      times = Math.max(1, Math.min(times - 1, timesLeft(wanted, answers)));
    }
  };

  /** Beside a refusal what the others let pass has gone back: nothing is leased of it. */
  const enterAll = (
    wanted: readonly Wanted[],
    answers: readonly (Taken | undefined)[],
    {
      times,
      allowed,
      sentAt,
    }: { readonly times: number; readonly allowed: boolean; readonly sentAt: number },
  ): void => {
    const at = now();
    for (const [index, { entry, take }] of wanted.entries()) {
      const answer = answers[index];
      if (answer === undefined || answer.allowed !== allowed) continue;
      entry.account.lapse(at);
      entry.account.enter(answer, take.cost * times, sentAt);
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

function timesWanted({ entry: { account, queued }, take: { cost } }: Wanted): number {
  return Math.floor(account.sizeFor(cost, account.missing(queued)) / cost);
}

function timesLeft(wanted: readonly Wanted[], answers: readonly (Taken | undefined)[]): number {
  return Math.min(
    ...answers.map((answer, index) =>
      Math.floor((answer?.remaining ?? Number.POSITIVE_INFINITY) / (wanted[index]?.take.cost ?? 1)),
    ),
  );
}
