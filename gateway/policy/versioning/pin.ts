// Pins: the date version an account stays on until it asks for another (specification, Versioning; VER-5).
import { DAY_MS, type EpochMs, type MaybePromise } from '../contract.ts';
import { dayOf, type IdPrefixes, idNamed, parseInstant } from '../notation.ts';
import { isDate } from './label.ts';
import type { Label, Moment, PinRule, ResolutionRules } from './resolution.ts';

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

/** What of a caller a pin depends on. */
export interface PinCaller {
  readonly id: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly prefixes?: IdPrefixes | undefined;
}

/** What of the clock a pin depends on. */
export interface PinMoment extends Moment {
  /** Whether a version was out at an instant, whatever has become of it since. */
  readonly wasReleased: (label: Label, at: EpochMs) => boolean;
}

export type PinChoice =
  | { readonly kind: 'pinned'; readonly label: Label }
  /** Nothing is known of the account: it stays from now on what this call gets. */
  | { readonly kind: 'first_call'; readonly label: Label }
  /** The default decides. */
  | { readonly kind: 'none' };

/** 9999-12-31T23:59:59Z: a larger number is not in seconds. */
const LAST_SECOND = 253_402_300_799;
const NONE: PinChoice = { kind: 'none' };

/**
 * The account a caller acts for; undefined when its token has no usable claim for it. Passing on to another name would
 * let a token choose whose pin it gets.
 */
export function accountOf({ account }: PinRule, { id, claims, prefixes }: PinCaller): string | undefined {
  if (account === undefined) return id;
  const named = claimOf(claims, account);
  const text = Number.isSafeInteger(named) ? String(named) : named;
  return typeof text === 'string' ? idNamed(text, prefixes) : undefined;
}

/**
 * The day an account was made, `YYYY-MM-DD` in UTC: of a day, of an instant with its offset, or of seconds since 1970
 * (NumericDate, RFC 7519 §2). Undefined where the claim is missing or none of these.
 */
export function creationDayOf({ created }: PinRule, { claims }: PinCaller): string | undefined {
  const written = created === undefined ? undefined : claimOf(claims, created);
  if (typeof written === 'number') {
    return written >= 0 && written <= LAST_SECOND ? dayOf(Math.floor(written) * 1000) : undefined;
  }
  if (typeof written !== 'string') return undefined;
  const instant = parseInstant(written.replace(/\.\d{1,9}(?=Z|[+-])/, ''));
  const day = instant === undefined ? undefined : dayOf(instant);
  // With its offset an instant may lie in the year before 0000 or after 9999, whose days do not compare as text.
  return day !== undefined && isDate(day) ? day : undefined;
}

/**
 * A stored pin stands, whatever has become of its version. Without one the creation day decides, which needs no store;
 * without that the newest version served now.
 */
export function choosePin(
  { labels, pin: rule }: Pick<ResolutionRules, 'labels' | 'pin'>,
  stored: Pin | undefined,
  createdOn: string | undefined,
  moment: PinMoment,
): PinChoice {
  if (stored !== undefined) return { kind: 'pinned', label: stored.label };
  if (createdOn === undefined) return firstCall(labels, moment);
  const today = dayOf(moment.now);
  const day = createdOn < today ? createdOn : today;
  const out = (label: Label) => moment.wasReleased(label, lastOf(day, moment.now));
  if (rule?.match === 'exact')
    return labels.includes(day) && out(day) ? { kind: 'pinned', label: day } : NONE;
  const floor = labels.find((label) => isDate(label) && label <= day && out(label));
  // Older than any version: the account has met no newer one than the oldest.
  const label = floor ?? labels.findLast((each) => moment.wasReleased(each, moment.now));
  return label === undefined ? NONE : { kind: 'pinned', label };
}

/** One that has ended is told so, and nothing is kept of it. */
function firstCall(labels: readonly Label[], { isServed, isReleased }: PinMoment): PinChoice {
  const served = labels.find(isServed);
  if (served !== undefined) return { kind: 'first_call', label: served };
  const ended = labels.find(isReleased);
  return ended === undefined ? NONE : { kind: 'pinned', label: ended };
}

/** Of today, what has come of it. */
function lastOf(day: string, now: EpochMs): EpochMs {
  return Math.min((parseInstant(day) ?? now) + DAY_MS - 1, now);
}

function claimOf(claims: PinCaller['claims'], name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
