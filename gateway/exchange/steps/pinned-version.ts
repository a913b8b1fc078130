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

/** What an account stays on from a call that nothing was known of it before. */
export interface FirstCall {
  readonly key: PinKey;
  readonly label: Label;
}

/** `firstCall`: to be kept with `keepFirstCall` once nothing refuses the call. */
export type Pinned =
  | (Extract<Verdict, { kind: 'resolved' }> & { readonly firstCall?: FirstCall | undefined })
  | RefusedPin;

/** As with a token that names no consumer: no other name may stand in for it. */
const NAMELESS: Pinned = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: 'The access token names no account', flaw: 'account' },
};
const RETRY_AFTER_S = 1;

/**
 * Stored pin, creation day, first call, default, in this order (VER-3, VER-5). Refused while the store is away and this
 * process does not know the pin: the version it might have instead would break who is pinned to another.
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
    // A list that excludes what the account would stay on gets something else, and nothing is kept of that.
    const keeps = choice.kind === 'first_call' && verdict.kind === 'resolved' && verdict.carrier === 'pin';
    return keeps ? { ...verdict, firstCall: { key, label: choice.label } } : verdict;
  } catch (error) {
    return orUnavailable(error, wallClock);
  }
}

/**
 * Keeps what a first call gets, for a call that is let in: who is refused is pinned to nothing. Of two at once one is
 * kept, and its version stands for both. Refused while the store is away: the next call might get another version.
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
