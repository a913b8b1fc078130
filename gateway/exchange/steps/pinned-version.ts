// Finds or stores the pinned version of a caller that names none.
import type { ApiPlan } from '../../plan/plan.ts';
import type { Consumer } from '../../policy/authentication/access.ts';
import { type EpochMs, retryLater, StoreUnavailable } from '../../policy/contract.ts';
import {
  accountOf,
  choosePin,
  creationDayOf,
  type PinAvailability,
  type PinKey,
} from '../../policy/versioning/pin.ts';
import type { Label, OpenResolution, Verdict } from '../../policy/versioning/resolution.ts';
import { resolveOpen } from '../../policy/versioning/resolve.ts';
import type { Refusal } from '../directive.ts';
import { awaited, type ExchangePorts, type Judging } from '../ports.ts';

type PinnedVersionPorts = Pick<ExchangePorts, 'pins' | 'wallClock'>;
type RefusedPin = { readonly kind: 'refused'; readonly refusal: Refusal };

export interface FirstCall {
  readonly key: PinKey;
  readonly label: Label;
}

/** `firstCall`: to be stored with `keepFirstCall` once no step refuses the call. */
export type Pinned =
  | (Extract<Verdict, { kind: 'resolved' }> & { readonly firstCall?: FirstCall | undefined })
  | RefusedPin;

/**
 * The token lacks the account claim. No other claim may replace it, as with a token that names no consumer.
 */
const NAMELESS: Pinned = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: 'The access token names no account', flaw: 'account' },
};
const RETRY_AFTER_S = 1;

/**
 * Tries the stored pin, the creation day, the first call and the default, in this order (VER-3, VER-5).
 * Refuses if the store is unavailable and this process does not know the pin: another version could break a
 * pinned account.
 */
export function* pinnedVersion(
  api: ApiPlan,
  open: OpenResolution,
  consumer: Consumer | undefined,
  versions: PinAvailability,
  { pins, wallClock }: PinnedVersionPorts,
): Judging<Pinned> {
  const { resolution } = api;
  if (resolution.pin === undefined || consumer === undefined)
    return resolveOpen(resolution, open, versions, undefined);
  const account = accountOf(resolution.pin, consumer);
  if (account === undefined) return NAMELESS;
  const key = { api: api.name, account };
  try {
    const found = pins.find(key);
    const stored = found instanceof Promise ? yield* awaited(found) : found;
    const choice = choosePin(resolution, stored, creationDayOf(resolution.pin, consumer), versions);
    const label = choice.kind === 'none' ? undefined : choice.label;
    const verdict = resolveOpen(resolution, open, versions, label);
    // If the Accept list excludes the version of the account, the request gets another one and no pin is
    // stored.
    const keeps = choice.kind === 'first_call' && verdict.kind === 'resolved' && verdict.carrier === 'pin';
    return keeps ? { ...verdict, firstCall: { key, label: choice.label } } : verdict;
  } catch (error) {
    return orUnavailable(error, wallClock);
  }
}

/**
 * Stores the version of an admitted first call. Of two concurrent calls the first stored version counts for
 * both. Refuses if the store is unavailable, because the next call might get another version.
 */
export async function keepFirstCall(
  { key, label }: FirstCall,
  now: EpochMs,
  { pins, wallClock }: PinnedVersionPorts,
): Promise<{ readonly kind: 'kept'; readonly label: Label } | RefusedPin> {
  try {
    const pin = { label, origin: 'first_call', since: now, previous: undefined } as const;
    return { kind: 'kept', label: (await pins.claim(key, pin)).label };
  } catch (error) {
    return orUnavailable(error, wallClock);
  }
}

function orUnavailable(error: unknown, wallClock: PinnedVersionPorts['wallClock']): RefusedPin {
  if (!(error instanceof StoreUnavailable)) throw error;
  return { kind: 'refused', refusal: retryLater('pins_unavailable', RETRY_AFTER_S, wallClock()) };
}
