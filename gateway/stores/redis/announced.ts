// Announcements shared by all gateways on one Redis: a hash of those made, and an expiring lease key for each in progress.
import type { AnnouncedStore, AnnouncementClaim } from '../../policy/lifecycle/announcement-store.ts';
import type { RedisConnection } from './connect.ts';
import { luaText } from './lua.ts';

/** HMGET unpacks its arguments on the stack of Lua, which has room for a few thousand, and a long script blocks Redis. */
const FOUND_AT_ONCE = 1000;

/** No request waits for it. */
const ANSWER_WITHIN_MS = 1000;

// The braces are the hash tag: a claim uses both keys.
const MADE = 'sundial:{announced}:made';
const leaseOf = (id: string): string => `sundial:{announced}:lease:${id}`;

export function createRedisAnnounced({ script }: RedisConnection): AnnouncedStore {
  const patient = { answerWithinMs: ANSWER_WITHIN_MS };
  const find = script(
    'sundialFindAnnounced',
    "return redis.call('HMGET', KEYS[1], unpack(ARGV))",
    1,
    patient,
  );
  const claim = script('sundialClaimAnnounced', luaText('claim-announced'), 2, patient);
  const keep = script('sundialKeepAnnounced', luaText('keep-announced'), 2, patient);
  const release = script(
    'sundialReleaseAnnounced',
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end",
    1,
    patient,
  );
  return {
    find: async (ids) => {
      const found: (string | undefined)[] = [];
      for (let from = 0; from < ids.length; from += FOUND_AT_ONCE) {
        const some = ids.slice(from, from + FOUND_AT_ONCE);
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
  throw new TypeError('the script that claims an announcement answered something else');
}
