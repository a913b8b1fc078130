// A webhook subscription as stored: owner, URL, events and secrets.
import type { EpochMs } from './delivery.ts';
import type { SignatureForm } from './signature.ts';

export interface KeptSecret {
  /** Sealed by `sealSecret`; no store has a readable secret. */
  readonly sealed: string;
  /** The secret also signs until then, beside its successor; absent for the present secret. */
  readonly until?: EpochMs;
}

export interface Disabled {
  /** `gone`: the receiver answered 410. `failing`: it failed for too long. */
  readonly reason: 'gone' | 'failing';
  readonly at: EpochMs;
}

export interface Subscription {
  readonly id: string;
  /** The consumer that created it, and the only one that sees it. */
  readonly owner: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly signature: SignatureForm;
  /** Newest first. */
  readonly secrets: readonly KeptSecret[];
  readonly disabled?: Disabled;
  readonly created: EpochMs;
  readonly updated: EpochMs;
}

/** Limits the signatures in a header. */
const MAX_SECRETS = 4;

/** WH-2: the new secret signs from now on; former ones also sign until `now + overlapMs`. */
export function withSecret(
  subscription: Subscription,
  sealed: string,
  { now, overlapMs }: { readonly now: EpochMs; readonly overlapMs: number },
): Subscription {
  const until = now + overlapMs;
  const before = signingSecrets(subscription, now).map((secret) => ({
    sealed: secret.sealed,
    until: Math.min(secret.until ?? until, until),
  }));
  const overlapping = overlapMs > 0 ? before.slice(0, MAX_SECRETS - 1) : [];
  return { ...subscription, secrets: [{ sealed }, ...overlapping], updated: now };
}

/** Secrets that sign at `now`, the newest first. */
export function signingSecrets({ secrets }: Subscription, now: EpochMs): readonly KeptSecret[] {
  return secrets.filter(({ until }) => until === undefined || until > now);
}

export function disabledFor(
  subscription: Subscription,
  reason: Disabled['reason'],
  now: EpochMs,
): Subscription {
  if (subscription.disabled !== undefined) return subscription;
  return { ...subscription, disabled: { reason, at: now }, updated: now };
}

export function enabled(subscription: Subscription, now: EpochMs): Subscription {
  if (subscription.disabled === undefined) return subscription;
  const { disabled: _, ...rest } = subscription;
  return { ...rest, updated: now };
}
