// The receiver of test:webhooks: fails a third of its deliveries, and counts how often it got each event.

import { loadPair } from '../../upstreams/receiver/certificate.ts';
import { openReceived } from '../../upstreams/receiver/received.ts';
import { HOOKS, startReceiver } from '../../upstreams/receiver/receiver.ts';

export interface CountingReceiver extends AsyncDisposable {
  readonly url: string;
  /** `host:port`. */
  readonly host: string;
  readonly believe: (secret: string) => void;
  /** Acknowledgements by event id. */
  readonly taken: ReadonlyMap<string, number>;
  /** The number of failed deliveries. */
  readonly failed: () => number;
}

const FAILS_WITH = [500, 503, 429] as const;

export async function startCountingReceiver(folder: string): Promise<CountingReceiver> {
  const secrets: string[] = [];
  const taken = new Map<string, number>();
  let failed = 0;
  const received = openReceived(':memory:');
  const service = await startReceiver({
    port: 0,
    pair: await loadPair(folder, Date.now()),
    secrets: () => secrets,
    received: {
      ...received,
      take: (event, now) => {
        taken.set(event.id, (taken.get(event.id) ?? 0) + 1);
        return received.take(event, now);
      },
    },
    failure: () => {
      if (Math.random() >= 1 / 3) return undefined;
      failed += 1;
      return FAILS_WITH[failed % FAILS_WITH.length];
    },
    now: Date.now,
  });
  return {
    url: `${service.url}${HOOKS}`,
    host: new URL(service.url).host,
    believe: (secret) => void secrets.push(secret),
    taken,
    failed: () => failed,
    [Symbol.asyncDispose]: async () => {
      await service.close();
      received[Symbol.dispose]();
    },
  };
}
