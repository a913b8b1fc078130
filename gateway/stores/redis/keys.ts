// The records of API keys in Redis: one hash, told of in the stream of changes like pins and overrides.
// Part of shared-state.ts.
import type { KeyTexts } from '../key-cache.ts';
import { textsOf } from './change-reply.ts';
import { CHANGES_KEPT, KEYS, type StateScripts } from './state-scripts.ts';

export function redisKeyTexts({ findKey, allKeys, replaceKey }: StateScripts): KeyTexts {
  return {
    find: async (id) => {
      const text = await findKey(KEYS.keys, id);
      return text === null ? undefined : String(text);
    },
    list: async () => textsOf(await allKeys(KEYS.keys)),
    replace: async (id, current = '', next) =>
      (await replaceKey(KEYS.keys, KEYS.changes, id, current, next, CHANGES_KEPT)) === 1,
  };
}
