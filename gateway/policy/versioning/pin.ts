// Pins: the date version an account stays on until it asks for another (specification, Versioning).
// What a pin is, how it may move, and the port behind which pins are kept.
import type { EpochMs, MaybePromise } from '../contract.ts';
import type { Label } from './resolution.ts';

export interface PinKey {
  readonly api: string;
  readonly account: string;
}

/** The version an account stays on, where that is stored. One that follows from the creation day alone is not. */
export interface Pin {
  readonly label: Label;
  readonly origin: 'first_call' | 'upgrade' | 'roll_back';
  /** When it was made or last moved. */
  readonly since: EpochMs;
  /** Where a roll-back leads and until when; its label is undefined where no pin was stored before. */
  readonly previous: { readonly label: Label | undefined; readonly until: EpochMs } | undefined;
}

/** Pins by API and account. Every answer rejects with `StoreUnavailable` only. */
export interface PinStore {
  /** At once where this process knows it: a warm path waits for no store. */
  readonly find: (key: PinKey) => MaybePromise<Pin | undefined>;
  /** Stores `pin` unless there is one, durably, and resolves with the one that stands. */
  readonly claim: (key: PinKey, pin: Pin) => Promise<Pin>;
  /** Puts `next` in the place of `current` (undefined: none); false where another stands there by now. */
  readonly replace: (key: PinKey, current: Pin | undefined, next: Pin | undefined) => Promise<boolean>;
}

/** How long an upgrade can be taken back (specification, Versioning). */
export const ROLL_BACK_MS = 72 * 3_600_000;

/** What of the versions a move depends on. */
export interface PinnableVersions {
  /** Newest first. */
  readonly labels: readonly Label[];
  /** Released, and its sunset has not passed. */
  readonly isServed: (label: Label) => boolean;
}

export type PinMove =
  /** `next` undefined: back to what no stored pin means. */
  | { readonly kind: 'moved'; readonly next: Pin | undefined }
  | {
      readonly kind: 'refused';
      readonly reason:
        | 'version_unknown'
        | 'version_ended'
        | 'not_newer'
        | 'nothing_to_roll_back'
        | 'too_late';
    };

/**
 * Moves an account to a newer version than `from`, the one it gets today; that can be taken back for 72 hours. Undefined
 * where it is not known, as without a stored pin or a creation day: then any is newer. An account on a version that is
 * not declared any more may move to any that is served: it has none to go on with.
 */
export function upgradePin(
  current: Pin | undefined,
  { from, to }: { readonly from: Label | undefined; readonly to: Label },
  { labels, isServed }: PinnableVersions,
  now: EpochMs,
): PinMove {
  if (!labels.includes(to)) return { kind: 'refused', reason: 'version_unknown' };
  if (!isServed(to)) return { kind: 'refused', reason: 'version_ended' };
  const at = from === undefined ? -1 : labels.indexOf(from);
  if (at !== -1 && labels.indexOf(to) >= at) {
    return { kind: 'refused', reason: 'not_newer' };
  }
  const previous = { label: current?.label, until: now + ROLL_BACK_MS };
  return { kind: 'moved', next: { label: to, origin: 'upgrade', since: now, previous } };
}

/** Takes the last upgrade back, up to and without its 72nd hour, as long as what it leads back to is served. */
export function rollBackPin(
  current: Pin | undefined,
  { labels, isServed }: PinnableVersions,
  now: EpochMs,
): PinMove {
  const previous = current?.previous;
  if (previous === undefined) return { kind: 'refused', reason: 'nothing_to_roll_back' };
  if (now >= previous.until) return { kind: 'refused', reason: 'too_late' };
  const { label } = previous;
  if (label === undefined) return { kind: 'moved', next: undefined };
  if (!labels.includes(label) || !isServed(label)) return { kind: 'refused', reason: 'version_ended' };
  return { kind: 'moved', next: { label, origin: 'roll_back', since: now, previous: undefined } };
}
