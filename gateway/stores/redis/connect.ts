// The connection to Redis as its stores need it: scripts that answer at once, or plainly not. One server, the primary behind
// sentinels, or all primaries of a cluster; nothing that leaves here can hold the URL or its password.
import { performance } from 'node:perf_hooks';
import { StoreUnavailable } from '../../policy/contract.ts';
import { type RedisAddress, redisAddress } from '../redis-address.ts';
import { loadClients, type RedisClients } from './client.ts';
import { openClusterMap, slotOf } from './cluster-map.ts';
import { Redirected } from './failures.ts';
import { type LinkOptions, openLink, type RedisLink, type ScriptArguments, type Send } from './link.ts';

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
 * `answerWithinMs` (default 30). `onRefused` gets the code of each error reply, such as `OOM`.
 * @throws Error when the URL is no Redis URL
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

/**
 * A link to each primary, each with its own breaker, so that one that is away costs no key of another. `ready`, and up for
 * `onState`, while every primary is. A command that is sent on to another server has no more time for it.
 */
function openCluster(
  address: Extract<RedisAddress, { readonly kind: 'cluster' }>,
  clients: RedisClients,
  options: LinkOptions,
): Pick<RedisLink, 'opened' | 'ready' | 'problem' | 'script' | 'close'> {
  const map = openClusterMap(address, clients, options);
  return {
    opened: map.opened,
    get ready() {
      return map.ready();
    },
    get problem() {
      return map.problem();
    },
    script: (name, lua, keys) => {
      const sends = new WeakMap<RedisLink, Send>();
      const sendTo = (link: RedisLink): Send => {
        const send = sends.get(link) ?? link.script(name, lua, keys);
        sends.set(link, send);
        return send;
      };
      return async (args, { withinMs, makesKeys = false }) => {
        const began = performance.now();
        const link = map.holderOf(slotOf(String(args[0])));
        if (link === undefined)
          throw new StoreUnavailable(`Redis is away (${map.problem() ?? 'nobody holds the slot'})`);
        try {
          return await sendTo(link)(args, { withinMs });
        } catch (error) {
          if (!(error instanceof Redirected) || (error.once && makesKeys)) throw error;
          const next = map.follow(error, link);
          const left = Math.max(0, withinMs - (performance.now() - began));
          return sendTo(next)(args, { withinMs: left, asking: error.once });
        }
      };
    },
    close: map.close,
  };
}
