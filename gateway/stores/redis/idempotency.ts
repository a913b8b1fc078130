// Idempotency keys shared by all gateways: one atomic script to take one, one to say what came of it.
// Stands behind the IdempotencyStore port; what is not settled lapses by the server's clock.
import type { ClaimTexts, StandingKey } from '../idempotency-records.ts';
import type { RedisConnection } from './connect.ts';
import { luaText } from './lua.ts';

/** A whole answer travels with it, and what it says cannot be found out again. */
const SETTLED_WITHIN_MS = 500;

const STATES: ReadonlySet<unknown> = new Set<StandingKey['state']>(['claimed', 'running', 'kept']);

export function createRedisClaimTexts({ script }: RedisConnection): ClaimTexts {
  const claim = script('sundialClaimKey', luaText('claim-key'), 1);
  const settle = script('sundialSettleKey', luaText('settle-key'), 1, { answerWithinMs: SETTLED_WITHIN_MS });
  return {
    claim: async (key, owner, lockMs) => standing(await claim(placeOf(key), owner, lockMs)),
    settle: async (key, owner, next) => {
      const record = next.state === 'kept' ? next.record : '';
      const ms = next.state === 'free' ? 0 : next.ms;
      return (await settle(placeOf(key), owner, next.state, record, ms)) === 1;
    },
  };
}

// The braces are the hash tag: in a cluster everything kept of one key lives on one node.
const placeOf = (key: string): string => `sundial:idempotency:{${key}}`;

/** Of a word that this edition does not know, nobody knows what it means. */
function standing(reply: unknown): StandingKey {
  const [state, record] = Array.isArray(reply) ? reply : [];
  if (typeof state !== 'string' || typeof record !== 'string')
    throw new TypeError('the script that claims a key answered something else than two texts');
  return { state: STATES.has(state) ? (state as StandingKey['state']) : 'unknown', record };
}
