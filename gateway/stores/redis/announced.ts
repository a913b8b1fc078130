// Announcements on Redis: a hash of those made, and an expiring lease key for each in progress.
import type { AnnouncedStore, AnnouncementClaim } from '../../policy/lifecycle/announcement-store.ts';
import type { RedisConnection } from './connect.ts';
import { luaText } from './lua.ts';

/**
 * Lua unpacks the arguments of HMGET on its stack, which has room for a few thousand. A long script also
 * blocks Redis.
 */
const MAX_IDS_PER_CALL = 1000;

/** No request waits for these calls. */
const ANSWER_WITHIN_MS = 1000;

// The braces are the hash tag: a claim uses both keys.
const MADE = 'sundial:{announced}:made';
const leaseOf = (id: string): string => `sundial:{announced}:lease:${id}`;

export function createRedisAnnounced({ script }: RedisConnection): AnnouncedStore {
  const scriptOptions = { answerWithinMs: ANSWER_WITHIN_MS };
  const find = script(
    'sundialFindAnnounced',
    "return redis.call('HMGET', KEYS[1], unpack(ARGV))",
    1,
    scriptOptions,
  );
  const claim = script('sundialClaimAnnounced', luaText('claim-announced'), 2, scriptOptions);
  const keep = script('sundialKeepAnnounced', luaText('keep-announced'), 2, scriptOptions);
  const release = script(
    'sundialReleaseAnnounced',
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end",
    1,
    scriptOptions,
  );
  return {
    find: async (ids) => {
      const found: (string | undefined)[] = [];
      for (let from = 0; from < ids.length; from += MAX_IDS_PER_CALL) {
        const some = ids.slice(from, from + MAX_IDS_PER_CALL);
        const reply = await find(MADE, ...some);
        const texts: readonly unknown[] = Array.isArray(reply) ? reply : [];
        for (const index of some.keys()) {
          const text = texts[index];
          found.push(typeof text === 'string' ? text : undefined);
        }
      }
      return found;
    },
    claim: async (id, owner, leaseMs) => claimIn(await claim(MADE, leaseOf(id), id, owner, leaseMs)),
    keep: async (id, text) => String(await keep(MADE, leaseOf(id), id, text)),
    release: async (id, owner) => {
      await release(leaseOf(id), owner);
    },
  };
}

function claimIn(reply: unknown): AnnouncementClaim {
  const [state, text] = Array.isArray(reply) ? reply : [];
  if (state === 'claimed' || state === 'held') return { state };
  if (state === 'kept' && typeof text === 'string') return { state, text };
  throw new TypeError('the script that claims an announcement returned an unexpected reply');
}
