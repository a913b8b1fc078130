// The connection to Redis as its stores need it: scripts that answer at once, or plainly not. One server, the primary behind
// sentinels, or all primaries of a cluster; nothing that leaves here can hold the URL or its password.
import { redisAddress } from '../../plan/redis-address.ts';
import { loadClients } from './client.ts';
import { openCluster } from './cluster.ts';
import { type LinkOptions, openLink, type ScriptArguments } from './link.ts';

/** Leaves of the 50 ms of RL-13 what a busy event loop needs to notice. */
const DEFAULT_ANSWER_WITHIN_MS = 30;
const WRITTEN = 'sundial:{state}:written';

export interface RedisConnection {
  /** Whether Redis answers now; of a cluster, every primary. */
  readonly ready: boolean;
  /** The last failure as a short code such as `ECONNREFUSED`, safe to print; undefined while ready. */
  readonly problem: string | undefined;
  /**
   * Registers a Lua script whose first `keys` arguments are its keys, all of one hash tag. Calls reject with
   * `StoreUnavailable` only, at the latest after `answerWithinMs`: a longer time than the connection's own is for what no
   * request waits for. A script that `makesKeys` out of its first one, which is none itself, is away while the slot of a
   * cluster changes hands: the server would send it on to where nothing is yet, to read nothing or write what there is
   * a second time.
   */
  readonly script: (
    name: string,
    lua: string,
    keys: number,
    options?: { readonly answerWithinMs?: number; readonly makesKeys?: boolean },
  ) => RedisScript;
  readonly close: () => void;
}

export type RedisScript = (...args: ScriptArguments) => Promise<unknown>;

/**
 * Connects to what `redisAddress` reads. Resolves after the first attempt, successful or not (`ready` tells), and keeps
 * reconnecting for ever. `onState` is called once per change, first when Redis is first reached; false also while it answers
 * and takes no write, though reads go on, and while any part of a cluster is away. A command is given up after
 * `answerWithinMs` (default 30). `onRefused` is told the code of each error reply, such as `OOM`.
 *
 * @throws Error when the URL is none of a Redis.
 */
export async function connectRedis(
  url: string,
  options: Pick<LinkOptions, 'onState'> & Partial<LinkOptions>,
): Promise<RedisConnection> {
  const address = redisAddress(url);
  if (address === undefined) throw new Error('this is not the URL of a Redis');
  const settled: LinkOptions = {
    onRefused: () => undefined,
    answerWithinMs: DEFAULT_ANSWER_WITHIN_MS,
    ...options,
  };
  const clients = await loadClients();
  const link =
    address.kind === 'cluster'
      ? openCluster(address, clients, settled)
      : openLink(clients.primary(address), { ...settled, writeKey: () => WRITTEN });
  await link.opened;
  return {
    get ready() {
      return link.ready;
    },
    get problem() {
      return link.problem;
    },
    script: (
      name,
      lua,
      keys,
      { answerWithinMs: withinMs = settled.answerWithinMs, makesKeys = false } = {},
    ) => {
      const send = link.script(name, lua, keys);
      return (...args) => send(args, { withinMs, makesKeys });
    },
    close: link.close,
  };
}
