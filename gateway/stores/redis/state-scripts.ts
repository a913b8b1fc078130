// The scripts behind what all gateways share: pins, overrides, API keys, and the stream of their changes.
// One atomic call each; shared-state.ts makes ports of them.
import type { RedisConnection } from './connect.ts';
import { luaText } from './lua.ts';

// The braces are the hash tag: a script that changes a pin and tells of it needs both keys on one node of a cluster.
export const KEYS = {
  pin: (key: string) => `sundial:{state}:pin:${key}`,
  overrides: 'sundial:{state}:overrides',
  keys: 'sundial:{state}:keys',
  changes: 'sundial:{state}:changes',
  origin: 'sundial:{state}:origin',
} as const;

/** Twenty changes a second for as long as a gateway may be cut off without reading everything anew. */
export const CHANGES_KEPT = 10_000;

/** No client waits for it. */
const ADMINISTRATION_WITHIN_MS = 1000;

export type StateScripts = ReturnType<typeof defineStateScripts>;

export function defineStateScripts({ script }: RedisConnection) {
  const patient = { answerWithinMs: ADMINISTRATION_WITHIN_MS };
  return {
    findPin: script('sundialFindPin', "return redis.call('GET', KEYS[1])", 1),
    claimPin: script('sundialClaimPin', luaText('claim-pin'), 2),
    replacePin: script('sundialReplacePin', luaText('replace-pin'), 2, patient),
    changeOverride: script('sundialChangeOverride', luaText('change-override'), 2, patient),
    readChanges: script('sundialReadChanges', luaText('read-changes'), 3, patient),
    restoreOverrides: script('sundialRestoreOverrides', luaText('restore-overrides'), 2, patient),
    findKey: script('sundialFindKey', "return redis.call('HGET', KEYS[1], ARGV[1])", 1),
    allKeys: script('sundialAllKeys', "return redis.call('HVALS', KEYS[1])", 1, patient),
    replaceKey: script('sundialReplaceKey', luaText('replace-key'), 2, patient),
  };
}
