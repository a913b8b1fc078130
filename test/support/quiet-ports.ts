// Ports of an exchange without limits, pins, pauses or used idempotency keys. Tests replace some of them.
import type { ExchangePorts } from '../../gateway/exchange/ports.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { Authenticator } from '../../gateway/policy/authentication/access.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import { NEW_KEYS } from './new-keys.ts';

const NO_USAGE = { read: async () => ({ records: [], next: undefined }) };
/** A bucket with one unit taken. */
export const PLENTY = { allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 0 } as const;

export function quietPorts(plan: () => GatewayPlan, now: () => number): ExchangePorts {
  return {
    plan,
    now,
    wallClock: now,
    monotonic: () => 0,
    guard: () => PLENTY,
    limiter: {
      take: (parts) => parts.map(({ limit, rule }) => ({ kind: 'counted', limit, rule, ...PLENTY })),
    },
    pins: { find: () => undefined, claim: async (_key, pin) => pin, replace: async () => true },
    idempotency: NEW_KEYS,
    adoption: { saw: () => undefined, isLate: () => false },
    ledger: NO_USAGE,
    overrides: () => [],
    authenticators: new Map(),
    onFault: () => undefined,
    hstsSeconds: undefined,
  };
}

/** Each token is the id of its consumer, for the identity `main`. */
export function tokensAreConsumers(scopes: readonly string[]): ReadonlyMap<string, Authenticator> {
  const authenticator = tokenAuthenticator(() => 0, {
    claims: () => true,
    verify: (id) => ({
      kind: 'consumer',
      consumer: { id, mayLabelMetrics: true, via: 'token', scopes: new Set(scopes), claims: {} },
    }),
  });
  return new Map([['main', authenticator]]);
}
