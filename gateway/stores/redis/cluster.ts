// A Redis Cluster: a link to each primary, each with its own breaker, so that one that is away costs no key of another.
// connect.ts opens it; where the slots are is cluster-map.ts.
import { performance } from 'node:perf_hooks';
import type { RedisAddress } from '../../plan/redis-address.ts';
import { StoreUnavailable } from '../../policy/contract.ts';
import type { RedisClients } from './client.ts';
import { openClusterMap } from './cluster-map.ts';
import { Redirected } from './failures.ts';
import type { LinkOptions, RedisLink, Send } from './link.ts';
import { slotOf } from './slots.ts';

/** `ready`, and up for `onState`, while every primary is. A command that is sent on to another server has no more time for it. */
export function openCluster(
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
