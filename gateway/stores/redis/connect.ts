// The connection of the stores to Redis: one server, a primary behind sentinels, or a cluster.
import { performance } from 'node:perf_hooks';
import { StoreUnavailable } from '../../policy/contract.ts';
import { type RedisAddress, redisAddress } from '../redis-address.ts';
import { loadClients, type RedisClients } from './client.ts';
import { openClusterMap, slotOf } from './cluster-map.ts';
import { Redirected } from './failures.ts';
import { type LinkOptions, openLink, type RedisLink, type ScriptArguments, type Send } from './link.ts';

/** RL-13 allows 50 ms. The rest is for a busy event loop, which may notice the timeout late. */
const DEFAULT_ANSWER_WITHIN_MS = 30;
const WRITE_PROBE_KEY = 'sundial:{state}:written';

export interface RedisConnection {
  /** Whether Redis is available: in a cluster, every primary. */
  readonly ready: boolean;
  /** The last failure as a short code such as `ECONNREFUSED`, safe to print; undefined while ready. */
  readonly problem: string | undefined;
  /**
   * Registers a Lua script whose first `keys` arguments are its keys, all of one hash tag. Calls reject only
   * with `StoreUnavailable`, at the latest after `answerWithinMs`. The default is the connection's time. A
   * longer time is for calls for which no request waits. `derivesKeys`: the script derives its keys from the
   * first one. During a migration of a slot such a script counts as unavailable: an ASK redirect would send
   * it to a node where the derived keys are still missing, and it would read nothing or write twice.
   */
  readonly script: (
    name: string,
    lua: string,
    keys: number,
    options?: { readonly answerWithinMs?: number; readonly derivesKeys?: boolean },
  ) => RedisScript;
  readonly close: () => void;
}

export type RedisScript = (...args: ScriptArguments) => Promise<unknown>;

/**
 * Resolves after the first attempt, successful or not (see `ready`), and reconnects until it is closed.
 * `onState` is called once per change, the first time when Redis becomes available. It also gets false while
 * Redis refuses writes, and while a primary of a cluster is unavailable. A command times out after
 * `answerWithinMs` (default 30). `onRefused` gets the code of each error reply, such as `OOM`. No error
 * contains the URL or its password.
 * @throws Error if the URL is not a Redis URL
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
      : openLink(clients.primary(address), { ...settled, writeKey: () => WRITE_PROBE_KEY });
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
      { answerWithinMs: withinMs = settled.answerWithinMs, derivesKeys = false } = {},
    ) => {
      const send = link.script(name, lua, keys);
      return (...args) => send(args, { withinMs, derivesKeys });
    },
    close: link.close,
  };
}

/**
 * One link and one circuit breaker per primary, so that an unavailable primary affects only its own keys.
 * `ready` and `onState` need every primary. A redirected command gets no additional time.
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
      return async (args, { withinMs, derivesKeys = false }) => {
        const began = performance.now();
        const link = map.holderOf(slotOf(String(args[0])));
        if (link === undefined)
          throw new StoreUnavailable(`Redis is unavailable (${map.problem() ?? 'no node serves the slot'})`);
        try {
          return await sendTo(link)(args, { withinMs });
        } catch (error) {
          if (!(error instanceof Redirected) || (error.isAsk && derivesKeys)) throw error;
          const next = map.follow(error, link);
          const left = Math.max(0, withinMs - (performance.now() - began));
          return sendTo(next)(args, { withinMs: left, asking: error.isAsk });
        }
      };
    },
    close: map.close,
  };
}
