// The calls that fetch leases of several keys for one request: of all or of none, so that no key loses units for what
// another refuses. leases.ts makes them when more than one key of a request is empty.
import type { RateLimitStore, Taken } from '../policy/rate-limit/limit.ts';
import type { LeaseCallOptions } from './lease-calls.ts';
import type { Wanted } from './lease-entries.ts';

/**
 * Waits for the call under way for these keys, or makes one: as many times what the request wants as wait for it, as far as
 * they are there. Rejects as `inner` does; one that would be followed by another too late ends with what it has heard.
 */
export type FetchTogether = (wanted: readonly Wanted[]) => Promise<void>;

export function createFetchTogether(
  inner: Pick<RateLimitStore, 'takeAll'>,
  { entries, now, patience }: LeaseCallOptions,
): FetchTogether {
  const flights = new Map<string, Promise<void>>();

  const fetchSeveral = async (wanted: readonly Wanted[]): Promise<void> => {
    using waiting = patience();
    const at = now();
    let times = Math.max(1, Math.min(...wanted.map((each) => timesWanted(each, at))));
    for (;;) {
      const sentAt = now();
      const asked = wanted.map((each) => ({ ...each.take, cost: missingFor(each, times) }));
      const answers = await inner.takeAll(asked);
      const allowed = answers.every((answer) => answer?.allowed);
      for (const [index, { entry }] of wanted.entries()) {
        const answer = answers[index];
        // Beside a refusal what the others let pass has gone back: nothing is leased of it.
        if (answer === undefined || answer.allowed !== allowed) continue;
        entry.account.lapse(now());
        entry.account.enter(answer, asked[index]?.cost ?? 0, sentAt);
      }
      if (allowed || times === 1 || waiting.gone) return;
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

/** Units that so many requests need beyond those at hand. */
function missingFor({ entry, take }: Wanted, times: number): number {
  return Math.max(1, take.cost * times - entry.account.held());
}

function timesWanted({ entry: { account, queued }, take: { cost } }: Wanted, at: number): number {
  const size = account.sizeFor(account.missing(cost), account.missing(queued), at);
  return Math.floor((account.held() + size) / cost);
}

function timesLeft({ entry, take }: Wanted, answer: Taken | undefined): number {
  return Math.floor((entry.account.held() + (answer?.remaining ?? Number.POSITIVE_INFINITY)) / take.cost);
}
