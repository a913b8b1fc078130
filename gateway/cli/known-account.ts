// Facts about the calling account, given as options instead of read from a store or a token.
import type { Decision } from '../exchange/facts.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Pin, PinStore } from '../policy/versioning/pin.ts';
import type { Label } from '../policy/versioning/resolution.ts';

export interface KnownAccount {
  /** The stored pin. Undefined: no pin is stored. */
  readonly pin?: Label | undefined;
  /** The creation day, as a token states it. Undefined: the token does not state it. */
  readonly created?: string | undefined;
  /** When the ledger first saw the consumer on the version. Undefined: before any freeze. `Infinity`: never. */
  readonly firstSeen?: EpochMs | undefined;
}

/** A store for one account of one API. It keeps the pin that a first call creates. */
export function assumePins({ pin: label }: KnownAccount, now: EpochMs): PinStore {
  let stored: Pin | undefined =
    label === undefined ? undefined : { label, origin: 'upgrade', since: now, previous: undefined };
  return {
    find: () => stored,
    claim: async (_key, pin) => {
      stored ??= pin;
      return stored;
    },
    replace: async () => true,
  };
}

export function withClaims(
  consumer: Omit<Consumer, 'claims' | 'via'>,
  { created }: KnownAccount,
  { apis }: GatewayPlan,
): Omit<Consumer, 'via'> {
  const claims: Record<string, unknown> = {};
  for (const { resolution } of apis) {
    const { pin } = resolution;
    if (pin?.account !== undefined) claims[pin.account] = consumer.id;
    if (pin?.created !== undefined && created !== undefined) claims[pin.created] = created;
  }
  return { ...consumer, claims };
}

/** Why the account got its version. Undefined if the version does not depend on the account. */
export function accountInWords(
  { perAccount, carrier, api }: Decision,
  { pin, created }: KnownAccount,
): { readonly detail: string; readonly assumed: string | undefined } | undefined {
  if (!perAccount) return undefined;
  if (pin !== undefined) return { detail: 'the pin of the account', assumed: undefined };
  const asksForDay = api?.resolution.pin?.created !== undefined;
  if (asksForDay && created !== undefined) {
    const detail = carrier === 'pin' ? `the account was made on ${created}` : 'the default';
    return { detail, assumed: 'no pin is stored' };
  }
  const assumed = asksForDay ? 'no pin is stored, no day in the token' : 'no pin is stored';
  return { detail: 'the first call of the account', assumed };
}
