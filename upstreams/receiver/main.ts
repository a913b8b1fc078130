// Runs the sample receiver of webhooks as a process: `node upstreams/receiver/main.ts`. SUNDIAL_RECEIVER_FAILS=<status> makes
// each delivery fail with that status.
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readPort, runService } from '../service/run.ts';
import { loadPair } from './certificate.ts';
import { openReceived } from './received.ts';
import { HOOKS, startReceiver } from './receiver.ts';
import { register, storedSecret } from './registration.ts';

/** How long the start waits for the subscription. After that the attempts go on in the background. */
const SUBSCRIBED_WITHIN_MS = 5_000;

const { env } = process;
const folder = resolve(env.SUNDIAL_DATA || './data');
const file = join(folder, 'receiver.json');
const fails = env.SUNDIAL_RECEIVER_FAILS;

await runService({
  name: 'receiver',
  variable: 'SUNDIAL_RECEIVER_PORT',
  fallback: 4007,
  environment: env,
  start: async ({ port }) => {
    if (fails && !/^[3-5]\d\d$/.test(fails))
      throw new Error('SUNDIAL_RECEIVER_FAILS must be a status from 300 to 599');
    const webhooks = readPort('SUNDIAL_WEBHOOKS_PORT', 4006, env);
    const pair = await loadPair(folder, Date.now());
    const received = openReceived(join(folder, 'receiver.db'));
    let secret = storedSecret(file);
    const service = await startReceiver({
      port,
      pair,
      secrets: () => (secret === undefined ? [] : [secret]),
      received,
      failure: () => (fails ? Number(fails) : undefined),
      now: Date.now,
    });
    const ending = new AbortController();
    const subscribed = register({
      service: `http://127.0.0.1:${webhooks}`,
      url: `${service.url}${HOOKS}`,
      file,
      signal: ending.signal,
    }).then(
      (registered) => {
        secret = registered;
      },
      (error: unknown) => {
        if (!ending.signal.aborted) process.stderr.write(`receiver: ${String(error)}\n`);
      },
    );
    // Waits, so that events which the gateway of a demo announces at its start find a subscriber.
    if (webhooks !== 0)
      await Promise.race([subscribed, setTimeout(SUBSCRIBED_WITHIN_MS, undefined, { ref: false })]);
    return {
      ...service,
      close: async () => {
        ending.abort();
        await service.close();
        received[Symbol.dispose]();
      },
    };
  },
});
