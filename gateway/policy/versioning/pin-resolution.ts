// Which version an account stays on: its stored pin, the day it was made, or its first call (VER-5).
// Pure; asked for a request that names no version, once the caller is known.
import type { EpochMs } from '../contract.ts';
import { dayOf, type IdPrefixes, idNamed, parseInstant } from '../notation.ts';
import { isDate } from './label.ts';
import type { Pin } from './pin.ts';
import type { Label, Moment, PinRule, ResolutionRules } from './resolution.ts';

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

const DAY_MS = 86_400_000;
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
