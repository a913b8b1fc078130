// A process that takes due deliveries from a webhooks store, prints their ids, and never finishes them.
const [leaseMs, kind, where = '', prefix = ''] = process.argv.slice(2);
const say = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
const open = async () => {
  if (kind === 'redis') {
    const { openRedisStore } = await import('../../upstreams/webhooks/redis/store.ts');
    return openRedisStore({ url: where, prefix, now: Date.now, onFault: () => undefined });
  }
  const { openSqliteStore } = await import('../../upstreams/webhooks/sqlite/store.ts');
  return openSqliteStore({ file: where, now: Date.now });
};
const store = await open();
store.work(
  (id) => {
    process.stdout.write(`${id}\n`);
    return new Promise(() => undefined);
  },
  { concurrency: 10, leaseMs: Number(leaseMs), onFault: say },
);
