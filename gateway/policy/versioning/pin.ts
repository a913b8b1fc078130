// Pins: the date version an account stays on until it asks for another (specification, Versioning; VER-5).
import { DAY_MS, type EpochMs, type MaybePromise } from '../contract.ts';
import { dayOf, type IdPrefixes, idNamed, parseInstant } from '../notation.ts';
import { isDate } from './label.ts';
import type { Availability, Label, PinRule, ResolutionRules } from './resolution.ts';

export interface PinKey {
  readonly api: string;
  readonly account: string;
}

/** A stored pin. A version that follows from the creation day alone is not stored. */
export interface Pin {
  readonly label: Label;
  readonly origin: 'first_call' | 'upgrade' | 'roll_back';
  readonly since: EpochMs;
  /** The target and deadline of a roll-back. Its label is undefined if no pin was stored before. */
  readonly previous: { readonly label: Label | undefined; readonly until: EpochMs } | undefined;
}

/** Pins by API and account. Every call rejects only with `StoreUnavailable`. */
export interface PinStore {
  /** A pin that this process has cached returns without a promise. */
  readonly find: (key: PinKey) => MaybePromise<Pin | undefined>;
  /** Stores `pin` durably unless one exists. Resolves with the stored one. */
  readonly claim: (key: PinKey, pin: Pin) => Promise<Pin>;
  /** Compare and set, where undefined means no pin. False if the store does not hold `current`. */
  readonly replace: (key: PinKey, current: Pin | undefined, next: Pin | undefined) => Promise<boolean>;
}

/** How long an upgrade can be rolled back (specification, Versioning). */
export const ROLL_BACK_MS = 72 * 3_600_000;

export interface PinnableVersions {
  readonly labels: readonly Label[];
  /** Released, with a sunset that has not passed. */
  readonly isServed: (label: Label) => boolean;
}

export type PinMove =
  /** `next` undefined: remove the stored pin. */
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
 * Moves an account from `from`, the version it gets now, to a newer one. The move can be rolled back for 72 hours. `from`
 * is undefined without a stored pin and a creation day: then every version counts as newer. An account on a version that is
 * no longer declared may move to any served version.
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

/** Rolls back the last upgrade within 72 hours, if the earlier version is still served. */
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

export interface PinCaller {
  readonly id: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly prefixes?: IdPrefixes | undefined;
}

export interface PinAvailability extends Availability {
  /** Whether a version was released at an instant, even if it has ended since. */
  readonly wasReleased: (label: Label, at: EpochMs) => boolean;
}

export type PinChoice =
  | { readonly kind: 'pinned'; readonly label: Label }
  /** Nothing is known of the account. Store the version of this call as its pin. */
  | { readonly kind: 'first_call'; readonly label: Label }
  | { readonly kind: 'none' };

/** 9999-12-31T23:59:59Z: a larger number is not in seconds. */
const LAST_SECOND = 253_402_300_799;
const NONE: PinChoice = { kind: 'none' };

/**
 * The account that the caller acts for. Undefined if the token has no usable claim for it. It tries no other claim, because
 * a token could then choose whose pin it gets.
 */
export function accountOf({ account }: PinRule, { id, claims, prefixes }: PinCaller): string | undefined {
  if (account === undefined) return id;
  const named = claimOf(claims, account);
  const text = Number.isSafeInteger(named) ? String(named) : named;
  return typeof text === 'string' ? idNamed(text, prefixes) : undefined;
}

/**
 * The day on which the account was created, `YYYY-MM-DD` in UTC. The claim may be a day, an instant with its offset, or
 * seconds since 1970 (NumericDate, RFC 7519 §2). Undefined for a missing or other claim.
 */
export function creationDayOf({ created }: PinRule, { claims }: PinCaller): string | undefined {
  const written = created === undefined ? undefined : claimOf(claims, created);
  if (typeof written === 'number') {
    return written >= 0 && written <= LAST_SECOND ? dayOf(Math.floor(written) * 1000) : undefined;
  }
  if (typeof written !== 'string') return undefined;
  const instant = parseInstant(written.replace(/\.\d{1,9}(?=Z|[+-])/, ''));
  const day = instant === undefined ? undefined : dayOf(instant);
  // An offset can move an instant before year 0000 or after 9999, where days do not compare as text.
  return day !== undefined && isDate(day) ? day : undefined;
}

/**
 * A stored pin always wins. Without one the creation day decides, which needs no store. Without that, the account gets the
 * newest served version.
 */
export function choosePin(
  { labels, pin: rule }: Pick<ResolutionRules, 'labels' | 'pin'>,
  stored: Pin | undefined,
  createdOn: string | undefined,
  moment: PinAvailability,
): PinChoice {
  if (stored !== undefined) return { kind: 'pinned', label: stored.label };
  if (createdOn === undefined) return firstCall(labels, moment);
  const today = dayOf(moment.now);
  const day = createdOn < today ? createdOn : today;
  const out = (label: Label) => moment.wasReleased(label, endOfDay(day, moment.now));
  if (rule?.match === 'exact')
    return labels.includes(day) && out(day) ? { kind: 'pinned', label: day } : NONE;
  const floor = labels.find((label) => isDate(label) && label <= day && out(label));
  // The account is older than every version, so it gets the oldest released one.
  const label = floor ?? labels.findLast((each) => moment.wasReleased(each, moment.now));
  return label === undefined ? NONE : { kind: 'pinned', label };
}

/** If every released version has ended, the account gets the refusal of the newest, and no pin is stored. */
function firstCall(labels: readonly Label[], { isServed, isReleased }: PinAvailability): PinChoice {
  const served = labels.find(isServed);
  if (served !== undefined) return { kind: 'first_call', label: served };
  const ended = labels.find(isReleased);
  return ended === undefined ? NONE : { kind: 'pinned', label: ended };
}

/** The last instant of the day, or `now` if the day is today. */
function endOfDay(day: string, now: EpochMs): EpochMs {
  return Math.min((parseInstant(day) ?? now) + DAY_MS - 1, now);
}

function claimOf(claims: PinCaller['claims'], name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
