// An idempotency store in which every key is new.
import type { IdempotencyStore } from '../../gateway/policy/idempotency/rules.ts';

export const NEW_KEYS: IdempotencyStore = {
  claim: async () => ({ kind: 'claimed' }),
  finish: async () => true,
  hold: async () => true,
  release: async () => true,
};
