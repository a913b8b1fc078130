// The version of a caller that names none: the one its account is pinned to, found or stored behind the port.
// Called by the pipeline once the caller is known; policy/versioning decides, this asks the store and nothing else.
import type { ApiPlan } from '../plan/plan.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import type { Moment } from '../policy/lifecycle/assess.ts';
import type { PinKey, PinStore } from '../policy/versioning/pin.ts';
import { accountOf, choosePin, creationDayOf, type PinChoice } from '../policy/versioning/pin-resolution.ts';
import type { Label, OpenResolution, Verdict } from '../policy/versioning/resolution.ts';
import { resolveOpen } from '../policy/versioning/resolve.ts';
import type { Refusal } from './directive.ts';
import type { ExchangePorts } from './ports.ts';
import { versionsAt } from './request-version.ts';

type Pinned = Verdict | { readonly kind: 'refused'; readonly refusal: Refusal };

/** As with a token that names no consumer: no other name may stand in for it. */
const NAMELESS: Pinned = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: 'The access token names no account' },
};
const RETRY_AFTER_S = 1;

/**
 * Stored pin, creation day, first call, default, in this order (VER-3, VER-5). Refused while the store is away and this
 * process does not know the pin: the version it might have instead would break who is pinned to another.
 */
export async function pinnedVersion(
  api: ApiPlan,
  open: OpenResolution,
  consumer: Consumer | undefined,
  moment: Moment,
  { pins, wallClock }: Pick<ExchangePorts, 'pins' | 'wallClock'>,
): Promise<Pinned> {
  const { resolution } = api;
  const versions = versionsAt(api, moment);
  if (resolution.pin === undefined || consumer === undefined)
    return resolveOpen(resolution, open, versions, undefined);
  const account = accountOf(resolution.pin, consumer);
  if (account === undefined) return NAMELESS;
  const key = { api: api.name, account };
  try {
    const found = pins.find(key);
    // A warm account waits for no store.
    const stored = found instanceof Promise ? await found : found;
    const choice = choosePin(resolution, stored, creationDayOf(resolution.pin, consumer), versions);
    return resolveOpen(resolution, open, versions, await labelOf(choice, key, moment, pins));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const restoredAt = wallClock() + RETRY_AFTER_S * 1000;
    const reason = 'pins_unavailable';
    return { kind: 'refused', refusal: { reason, retryAfterSeconds: RETRY_AFTER_S, restoredAt } };
  }
}

/** Of two first calls at once one is stored, and both get that one. */
async function labelOf(
  choice: PinChoice,
  key: PinKey,
  { now }: Moment,
  pins: PinStore,
): Promise<Label | undefined> {
  switch (choice.kind) {
    case 'pinned':
      return choice.label;
    case 'first_call': {
      const pin = { label: choice.label, origin: 'first_call', since: now, previous: undefined } as const;
      return (await pins.claim(key, pin)).label;
    }
    case 'none':
      return undefined;
    default: {
      const never: never = choice;
      throw new Error(`unhandled choice ${JSON.stringify(never)}`);
    }
  }
}
