// A process that takes due deliveries from a store and never finishes them, until it is killed.
// Started by the contract of the stores of webhooks; says the id of each delivery that it holds.
import { openRedisStore } from '../../upstreams/webhooks/redis/store.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';

const [leaseMs, kind, where = '', prefix = ''] = process.argv.slice(2);
const say = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
const store =
  kind === 'redis'
    ? await openRedisStore({ url: where, prefix, now: Date.now, onFault: () => undefined })
    : openSqliteStore({ file: where, now: Date.now });
store.work(
  (id) => {
    process.stdout.write(`${id}\n`);
    return new Promise(() => undefined);
  },
  { concurrency: 10, leaseMs: Number(leaseMs), onFault: say },
);
