// The sample receiver as test:webhooks runs and kills it: it writes down each delivery before it acknowledges it.
// Arguments: port and data folder, where `secret` has what deliveries are signed with and `taken` becomes the list.
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
