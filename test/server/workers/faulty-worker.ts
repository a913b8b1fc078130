// A worker that fails in the way that its start message names, for tests of the worker pool.
import { runWorker } from '../../../gateway/server/workers/worker-process.ts';

runWorker(async (start, primary) => {
  const trouble = String(start.stores);
  let looks = 0;
  if (trouble === 'cannot start') throw new Error('there is no such address');
  return {
    bound: { https: undefined, http: undefined },
    use: ({ revision }) => {
      if (trouble === `refuses ${revision}`) throw new Error('no');
    },
    show: () => undefined,
    setLogLevel: () => undefined,
    hear: (news) => {
      if (news !== 'throw') return;
      setImmediate(() => {
        throw new Error('told to throw');
      });
    },
    snapshot: async () => {
      looks += 1;
      // By then the first response has arrived.
      if (looks === 2) primary.log('looked at twice\n');
      return [
        {
          name: 'seen',
          help: 'Once.',
          type: 'counter',
          aggregator: 'sum',
          values: [{ value: 1, labels: {} }],
        },
      ] as never;
    },
    onUncaught: (error) => primary.log(`uncaught: ${error instanceof Error ? error.message : 'what'}\n`),
    close: async () => {
      if (trouble === 'never closes') await new Promise(() => undefined);
      primary.log('closed\n');
    },
  };
});
