// The receiver of test:webhooks. Arguments: port, and a folder with `secret`. Appends deliveries to `taken`.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadPair } from '../../upstreams/receiver/certificate.ts';
import { openReceived } from '../../upstreams/receiver/received.ts';
import { startReceiver } from '../../upstreams/receiver/receiver.ts';
import { runService } from '../../upstreams/service/run.ts';

const [port = '', folder = ''] = process.argv.slice(2);
const secret = join(folder, 'secret');
const taken = join(folder, 'taken');

await runService({
  name: 'receiver',
  variable: 'PORT',
  fallback: Number(port),
  environment: {},
  start: async () => {
    const received = openReceived(join(folder, 'receiver.db'));
    return startReceiver({
      port: Number(port),
      pair: await loadPair(folder, Date.now()),
      secrets: () => (existsSync(secret) ? [readFileSync(secret, 'utf8')] : []),
      received: {
        ...received,
        take: (event, now) => {
          const { id } = event.data as { readonly id: number };
          appendFileSync(taken, `${event.id} ${id}\n`);
          return received.take(event, now);
        },
      },
      now: Date.now,
    });
  },
});
