// A real primary with a replica, and sentinels that promote the replica if the primary fails.
import { Redis } from 'ioredis';
import { type RunningRedis, startRedis } from './redis-server.ts';
import { untilTrue } from './until-true.ts';

const PRIMARY = 'watched';

export interface RunningSentinels extends AsyncDisposable {
  /** `login` such as `user:password@`, with the @. */
  readonly url: (login?: string) => string;
  readonly primary: RunningRedis;
  readonly replica: RunningRedis;
  /** The port of the primary in a sentinel. */
  readonly known: () => Promise<number>;
}

/** `password`: of the data servers; `sentinelPassword`: of the sentinels. */
export async function startSentinels({
  count = 3,
  downAfterMs = 500,
  password,
  sentinelPassword,
}: {
  readonly count?: number;
  readonly downAfterMs?: number;
  readonly password?: string;
  readonly sentinelPassword?: string;
} = {}): Promise<RunningSentinels> {
  await using stack = new AsyncDisposableStack();
  const guarded = password === undefined ? [] : ['--requirepass', password, '--masterauth', password];
  const start = async (options: Parameters<typeof startRedis>[0]) =>
    stack.adopt(await startRedis(options), ({ stop }) => stop());
  const data = [...guarded, '--repl-diskless-sync-delay', '0'];
  const primary = await start({ more: data });
  const replica = await start({ more: [...data, '--replicaof', '127.0.0.1', String(primary.port)] });
  const configuration = [
    `sentinel monitor ${PRIMARY} 127.0.0.1 ${primary.port} ${Math.floor(count / 2) + 1}`,
    `sentinel down-after-milliseconds ${PRIMARY} ${downAfterMs}`,
    `sentinel failover-timeout ${PRIMARY} 3000`,
    ...(password === undefined ? [] : [`sentinel auth-pass ${PRIMARY} ${password}`]),
    ...(sentinelPassword === undefined ? [] : [`requirepass ${sentinelPassword}`]),
    ...(sentinelPassword === undefined ? [] : [`sentinel sentinel-pass ${sentinelPassword}`]),
  ].join('\n');
  const sentinels = await Promise.all(
    Array.from({ length: count }, () =>
      start({ configuration, more: ['--sentinel'], saysReady: 'Sentinel ID is' }),
    ),
  );
  const hands = sentinels.map(({ port }) => {
    const hand = new Redis({
      port,
      disableClientInfo: true,
      enableReadyCheck: false,
      ...(sentinelPassword !== undefined && { password: sentinelPassword }),
    });
    hand.on('error', () => undefined);
    stack.defer(() => hand.disconnect());
    return hand;
  });
  const fieldsOf = async (hand: Redis): Promise<ReadonlyMap<string, string>> => {
    const flat = (await hand.call('SENTINEL', 'MASTER', PRIMARY)) as readonly string[];
    return new Map(flat.flatMap((word, index) => (index % 2 ? [] : [[word, flat[index + 1] ?? '']])));
  };
  const whole = async (hand: Redis): Promise<boolean> => {
    const fields = await fieldsOf(hand);
    return fields.get('num-slaves') === '1' && fields.get('num-other-sentinels') === String(count - 1);
  };
  await untilTrue(async () => (await Promise.all(hands.map(whole))).every(Boolean));
  const moved = stack.move();
  const named = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: (login = '') => `redis+sentinel://${login}${named}/${PRIMARY}`,
    primary,
    replica,
    known: async () => Number((await Promise.all(hands.map(fieldsOf)))[0]?.get('port')),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}
