// Idempotency keys that nobody has used before, for tests in which none is sent.
import type { IdempotencyStore } from '../../gateway/policy/idempotency/rules.ts';

export const NEW_KEYS: IdempotencyStore = {
  claim: async () => ({ kind: 'claimed' }),
  finish: async () => true,
  hold: async () => true,
  release: async () => true,
};
