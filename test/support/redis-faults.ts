// A Redis that a test can freeze, kill, slow down, disconnect or fill, behind a TCP proxy that can fail too.
import { Redis } from 'ioredis';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { startRedis } from './redis-server.ts';

export interface FaultyRedis extends AsyncDisposable {
  /** Through the proxy. */
  readonly url: string;
  readonly line: Pick<FaultProxy, 'delay' | 'cutAfter' | 'silence'>;
  readonly freeze: () => void;
  readonly thaw: () => void;
  readonly kill: () => Promise<void>;
  /** After a kill: restarts it empty at the same port. */
  readonly comeBack: () => Promise<void>;
  /** Sends a command directly to the server. */
  readonly byHand: (...command: readonly [string, ...(readonly string[])]) => Promise<unknown>;
}

export interface RedisFault {
  readonly what: string;
  readonly befall: (redis: FaultyRedis) => unknown;
  readonly lift: (redis: FaultyRedis) => unknown;
  /** How the gateway sees Redis: away, or refusing with this code in the log. */
  readonly told: 'away' | 'OOM' | 'READONLY' | 'NOPERM' | 'NOAUTH';
}

const PASSWORD = 'changed';

export async function startFaultyRedis(): Promise<FaultyRedis> {
  // Enables DEBUG, which some faults need.
  const more = ['--enable-debug-command', 'yes'];
  let redis = await startRedis({ more });
  const line = await startFaultProxy(redis.port);
  return {
    url: `redis://127.0.0.1:${line.port}`,
    line,
    freeze: () => redis.pause(),
    thaw: () => redis.resume(),
    kill: () => redis.stop(),
    comeBack: async () => {
      redis = await startRedis({ port: redis.port, more });
    },
    byHand: async (...command) => {
      // Without the ready check, because a loading server must be asked now.
      const hand = new Redis(redis.url, { password: PASSWORD, lazyConnect: true, enableReadyCheck: false });
      hand.on('error', () => undefined);
      try {
        await hand.connect();
        return await hand.call(...command);
      } finally {
        hand.disconnect();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await line[Symbol.asyncDispose]();
      await redis.stop();
    },
  };
}

export const REDIS_FAULTS: readonly RedisFault[] = [
  { what: 'frozen', befall: ({ freeze }) => freeze(), lift: ({ thaw }) => thaw(), told: 'away' },
  { what: 'slow', befall: ({ line }) => line.delay(200), lift: ({ line }) => line.delay(0), told: 'away' },
  {
    what: 'cut off in mid-reply',
    befall: ({ line }) => line.cutAfter(2),
    lift: ({ line }) => line.cutAfter(undefined),
    told: 'away',
  },
  {
    what: 'full',
    befall: ({ byHand }) => byHand('CONFIG', 'SET', 'maxmemory', '1'),
    lift: ({ byHand }) => byHand('CONFIG', 'SET', 'maxmemory', '0'),
    told: 'OOM',
  },
  {
    what: 'a replica that only reads',
    befall: ({ byHand }) => byHand('REPLICAOF', '127.0.0.1', '1'),
    lift: ({ byHand }) => byHand('REPLICAOF', 'NO', 'ONE'),
    told: 'READONLY',
  },
  {
    what: 'one that forbids scripts',
    befall: ({ byHand }) => byHand('ACL', 'SETUSER', 'default', '-@scripting'),
    lift: ({ byHand }) => byHand('ACL', 'SETUSER', 'default', '+@scripting'),
    told: 'NOPERM',
  },
  {
    what: 'given another password',
    befall: async ({ byHand }) => {
      await byHand('CONFIG', 'SET', 'requirepass', PASSWORD);
      await byHand('CLIENT', 'KILL', 'TYPE', 'normal');
    },
    lift: ({ byHand }) => byHand('CONFIG', 'SET', 'requirepass', ''),
    told: 'NOAUTH',
  },
  // Last, because it comes back empty: the gateway then loses known pins.
  { what: 'killed', befall: ({ kill }) => kill(), lift: ({ comeBack }) => comeBack(), told: 'away' },
];
