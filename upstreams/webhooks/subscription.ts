// A webhook subscription as it is kept: who is called where, for which events, signed with which secrets.
// Made and changed by the API, read by the fan-out and by every delivery; the store keeps it.
import type { EpochMs } from './delivery.ts';
import type { SignatureForm } from './signature.ts';

export interface KeptSecret {
  /** As `sealSecret` wrote it: no store holds a secret that can be read. */
  readonly sealed: string;
  /** Signs until then beside its successor; absent: the present secret. */
  readonly until?: EpochMs;
}

export interface Disabled {
  /** `gone`: the receiver answered 410. `failing`: it failed for too long. */
  readonly reason: 'gone' | 'failing';
  readonly at: EpochMs;
}

export interface Subscription {
  readonly id: string;
  /** The consumer that made it, who alone sees it. */
  readonly owner: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly signature: SignatureForm;
  /** The newest first. */
  readonly secrets: readonly KeptSecret[];
  /** Absent while it is enabled. */
  readonly disabled?: Disabled;
  readonly created: EpochMs;
  readonly updated: EpochMs;
}

/** How many secrets may sign at once: a header with more of them would help nobody. */
const MOST_SECRETS = 4;

/** WH-2: from now on the new secret signs, and until `now + overlapMs` those before it as well. */
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
  const overlapping = overlapMs > 0 ? before.slice(0, MOST_SECRETS - 1) : [];
  return { ...subscription, secrets: [{ sealed }, ...overlapping], updated: now };
}

/** Those that sign at `now`, the newest first. */
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
