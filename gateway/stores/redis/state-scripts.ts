// The Redis scripts for pins, overrides, API keys and idempotency keys, and the stream of changes.
import type { IdempotencyTexts, KeyState } from '../idempotency-records.ts';
import type { RedisConnection } from './connect.ts';
import { luaText } from './lua.ts';

// The braces are the hash tag: a script that changes a pin and adds to the stream needs both keys on one node
// of a cluster.
export const KEYS = {
  pin: (key: string) => `sundial:{state}:pin:${key}`,
  overrides: 'sundial:{state}:overrides',
  keys: 'sundial:{state}:keys',
  changes: 'sundial:{state}:changes',
  origin: 'sundial:{state}:origin',
} as const;

/** 20 changes a second for 500 seconds. A gateway that misses more of them reads everything again. */
export const CHANGES_KEPT = 10_000;

/** No client waits for these calls. */
const ADMIN_TIMEOUT_MS = 1000;

export type StateScripts = ReturnType<typeof defineStateScripts>;

export function defineStateScripts({ script }: RedisConnection) {
  const adminOptions = { answerWithinMs: ADMIN_TIMEOUT_MS };
  return {
    findPin: script('sundialFindPin', "return redis.call('GET', KEYS[1])", 1),
    claimPin: script('sundialClaimPin', luaText('claim-pin'), 2),
    replacePin: script('sundialReplacePin', luaText('replace-pin'), 2, adminOptions),
    changeOverride: script('sundialChangeOverride', luaText('change-override'), 2, adminOptions),
    readChanges: script('sundialReadChanges', luaText('read-changes'), 3, adminOptions),
    restoreOverrides: script('sundialRestoreOverrides', luaText('restore-overrides'), 2, adminOptions),
    findKey: script('sundialFindKey', "return redis.call('HGET', KEYS[1], ARGV[1])", 1),
    allKeys: script('sundialAllKeys', "return redis.call('HVALS', KEYS[1])", 1, adminOptions),
    replaceKey: script('sundialReplaceKey', luaText('replace-key'), 2, adminOptions),
  };
}

export interface Changes {
  /** The last entry of the stream that this reply covers. */
  readonly seen: string;
  /** Keys of the moved pins; `all`: any pin may have moved. */
  readonly pins: readonly string[] | 'all';
  /** Keys that had no pin before. */
  readonly claimed: readonly string[];
  /** Changed API keys. If `pins` is `all`, any key may have changed. */
  readonly keys: readonly string[];
  /** All overrides; undefined if none has changed. */
  readonly overrides: readonly string[] | undefined;
  /**
   * The name of the data and the first entry of its stream; undefined if the last seen entry is still there.
   */
  readonly data: { readonly origin: string; readonly oldest: string } | undefined;
}

/** @throws TypeError for an unexpected reply: a bug, or another program writes to these keys */
export function readChanges(reply: unknown): Changes {
  if (!Array.isArray(reply)) throw new TypeError('the script that reads changes did not return a list');
  const [kind, seen, ...rest]: readonly unknown[] = reply;
  if (kind === 'all') {
    const [overrides, origin, oldest] = rest;
    return {
      seen: String(seen),
      pins: 'all',
      claimed: [],
      keys: [],
      overrides: textsOf(overrides),
      data: { origin: String(origin), oldest: String(oldest) },
    };
  }
  const [pins, overrides, claimed, keys] = rest;
  return {
    seen: String(seen),
    pins: textsOf(pins),
    claimed: textsOf(claimed),
    keys: textsOf(keys),
    overrides: overrides === null ? undefined : textsOf(overrides),
    data: undefined,
  };
}

/** Compares the ids of two stream entries: `<milliseconds>-<number>`. */
export function isEarlier(entry: string, other: string): boolean {
  const [ms = 0, number = 0] = entry.split('-').map(Number);
  const [otherMs = 0, otherNumber = 0] = other.split('-').map(Number);
  return ms < otherMs || (ms === otherMs && number < otherNumber);
}

/** @throws TypeError for a reply that is not a list of strings */
export function textsOf(reply: unknown): readonly string[] {
  if (!Array.isArray(reply) || !reply.every((text) => typeof text === 'string'))
    throw new TypeError('a script did not return a list of strings');
  return reply;
}

/** Longer than for a claim: the call carries a whole response, and only this process knows the outcome. */
const SETTLE_TIMEOUT_MS = 500;

const STATES: ReadonlySet<unknown> = new Set<KeyState['state']>(['claimed', 'running', 'kept']);

export function createRedisIdempotencyTexts({ script }: RedisConnection): IdempotencyTexts {
  const claim = script('sundialClaimKey', luaText('claim-key'), 1);
  const settle = script('sundialSettleKey', luaText('settle-key'), 1, { answerWithinMs: SETTLE_TIMEOUT_MS });
  return {
    claim: async (key, owner, lockMs) => readKeyState(await claim(redisKeyOf(key), owner, lockMs)),
    settle: async (key, owner, next) => {
      const record = next.state === 'kept' ? next.record : '';
      const ms = next.state === 'free' ? 0 : next.ms;
      return (await settle(redisKeyOf(key), owner, next.state, record, ms)) === 1;
    },
  };
}

// The braces are the hash tag: in a cluster all data of one key is on one node.
const redisKeyOf = (key: string): string => `sundial:idempotency:{${key}}`;

/** `unknown` for a state of a later release. @throws TypeError for an unexpected reply */
function readKeyState(reply: unknown): KeyState {
  const [state, record] = Array.isArray(reply) ? reply : [];
  if (typeof state !== 'string' || typeof record !== 'string')
    throw new TypeError('the script that claims an idempotency key did not return two strings');
  return { state: STATES.has(state) ? (state as KeyState['state']) : 'unknown', record };
}
