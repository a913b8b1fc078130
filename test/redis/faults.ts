// The faults of a Redis in test:redis, and the expected behaviour of a gateway.
import { type FaultyRedis, REDIS_FAULTS } from '../support/redis-faults.ts';

export interface Fault {
  readonly what: string;
  /**
   * `away`, `partly away`: requests, or some of them, get the response of `on_store_failure`. `counted`: as
   * without a fault.
   */
  readonly makes: 'away' | 'partly away' | 'counted';
  /** The fault starts before the gateway. */
  readonly hasBegun?: true;
  readonly befall: () => unknown;
  /** Resolves when Redis works again. */
  readonly lift: () => unknown;
}

/** Loading takes a millisecond per key: longer than the measurement; the rest then loads at once. */
const KEYS_TO_LOAD = 15_000;
const LOADING_ENDS_WITHIN_MS = 30_000;

export function singleFaults(redis: FaultyRedis): readonly Fault[] {
  const { line, byHand } = redis;
  const known = REDIS_FAULTS.filter(({ what }) => what !== 'slow').map(
    ({ what, befall, lift }): Fault => ({
      what,
      makes: 'away',
      befall: () => befall(redis),
      lift: () => lift(redis),
    }),
  );
  const slow = (ms: number, makes: Fault['makes']): Fault => ({
    what: `slow by ${ms} ms`,
    makes,
    befall: () => line.delay(ms),
    lift: () => line.delay(0),
  });
  let reload: Promise<unknown> = Promise.resolve();
  return [
    slow(100, 'away'),
    {
      what: 'without its scripts',
      makes: 'counted',
      befall: () => byHand('SCRIPT', 'FLUSH'),
      lift: () => undefined,
    },
    {
      what: 'half-open',
      makes: 'away',
      befall: () => line.silence(true),
      lift: () => line.silence(false),
    },
    {
      what: 'loading its data',
      makes: 'away',
      befall: async () => {
        await byHand('DEBUG', 'POPULATE', String(KEYS_TO_LOAD));
        await byHand(
          'CONFIG',
          'SET',
          'key-load-delay',
          '1000',
          'loading-process-events-interval-bytes',
          '1024',
        );
        reload = byHand('DEBUG', 'RELOAD');
        const started = performance.now();
        while (!String(await byHand('INFO', 'persistence')).includes('loading:1')) {
          if (performance.now() - started > LOADING_ENDS_WITHIN_MS) throw new Error('Redis does not load');
        }
      },
      lift: async () => {
        await byHand('CONFIG', 'SET', 'key-load-delay', '0').catch(() => undefined);
        await reload;
        await byHand('CONFIG', 'SET', 'key-load-delay', '0');
      },
    },
    ...known,
  ];
}
