// The webhooks service with short delays. Arguments: port, data folder, receiver (`host:port`), Redis URL.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runService } from '../../upstreams/service/run.ts';
import { createFaultLog } from '../../upstreams/webhooks/fault-log.ts';
import { openRedisStore } from '../../upstreams/webhooks/redis/store.ts';
import { nextAttemptDelay } from '../../upstreams/webhooks/schedule.ts';
import { loadSealingKey } from '../../upstreams/webhooks/secret.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import { DEFAULT_TUNING } from '../../upstreams/webhooks/tuning.ts';
import { startWebhooks } from '../../upstreams/webhooks/webhooks.ts';

const [port = '', folder = '', receiver = '', redis = ''] = process.argv.slice(2);
const FASTER = 100;
const LONGEST_DELAY_MS = 2_000;
const ca = join(folder, 'receiver.crt');
const log = (line: Readonly<Record<string, unknown>>): void => {
  process.stderr.write(`${JSON.stringify(line)}\n`);
};
const onFault = createFaultLog(log, Date.now);

await runService({
  name: 'webhooks',
  variable: 'PORT',
  fallback: Number(port),
  environment: {},
  start: async () =>
    startWebhooks({
      port: Number(port),
      store:
        redis === ''
          ? openSqliteStore({ file: join(folder, 'webhooks.db'), now: Date.now })
          : await openRedisStore({ url: redis, now: Date.now, onFault }),
      sealingKey: loadSealingKey(folder),
      destinations: { allow: [receiver], deny: [] },
      ca: () => (existsSync(ca) ? readFileSync(ca, 'utf8') : undefined),
      tuning: {
        // There is only one receiver.
        perEndpoint: 24,
        perHost: 256,
        attemptMs: 5_000,
        leaseMs: 6_000,
        rules: { ...DEFAULT_TUNING.rules, openMs: 1_000, probeMs: 5_500 },
        nextDelay: (failed) => {
          const delayMs = nextAttemptDelay(failed);
          // Never gives up, because the test counts lost events.
          return Math.min(LONGEST_DELAY_MS, (delayMs ?? LONGEST_DELAY_MS * FASTER) / FASTER);
        },
      },
      log,
    }),
});
