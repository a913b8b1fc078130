// Sends many requests at once and counts the results, with bounds of the time between first and last take.
import type { Client } from '../support/http-client.ts';

const LEAST_EACH = 5;

export interface Tally {
  readonly admitted: number;
  readonly limited: number;
  /** By status; empty if all is well. */
  readonly others: ReadonlyMap<number, number>;
  /** The least and the most milliseconds between the first take and the last one, which was refused. */
  readonly elapsed: readonly [least: number, most: number];
}

/**
 * All clients send requests at once, each a few times and for `forMs`. One continues until it is refused.
 * `clock`: the clock of the store, in milliseconds.
 */
export async function tally(
  clients: readonly Client[],
  path: string,
  { forMs, clock }: { readonly forMs: number; readonly clock: () => Promise<number> | number },
): Promise<Tally> {
  const statuses = new Map<number, number>();
  const count = (status: number): void => void statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const from = await clock();
  const until = performance.now() + forMs;
  let firstKnown: Promise<number> | number | undefined;
  await Promise.all(
    clients.map(async (client) => {
      for (let asked = 0; asked < LEAST_EACH || performance.now() < until; asked += 1) {
        count((await client.ask({ path })).status);
        firstKnown ??= clock();
      }
    }),
  );
  const firstBy = (await firstKnown) ?? from;
  for (;;) {
    const before = await clock();
    const status = (await clients[0]?.ask({ path }))?.status ?? 0;
    count(status);
    if (status !== 429) continue;
    const after = await clock();
    const others = new Map([...statuses].filter(([each]) => each !== 200 && each !== 429));
    return {
      admitted: statuses.get(200) ?? 0,
      limited: statuses.get(429) ?? 0,
      others,
      elapsed: [before - firstBy, after - from],
    };
  }
}
