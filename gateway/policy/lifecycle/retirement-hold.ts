// Whether a guard holds a retirement: made before the sunset, renewed while too much is called, never without end.
// Asked by the guard of a running gateway about every version that says `on_exceed: hold`; pure like every rule.
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import type { Hold } from './override.ts';
import { type Retirement, type RetireWhen, retireWhenInWords, usageInWords } from './retire-when.ts';

export interface HeldVersion {
  readonly api: string;
  readonly label: Label;
  readonly schedule: { readonly sunset: EpochMs | undefined };
  /** Without one nothing can be served, whatever is held. */
  readonly upstream: object | undefined;
}

const HOUR_MS = 3_600_000;
/** So long before the sunset callers are told of the new day, and every gateway of the store has heard of it. */
const AHEAD_MS = 24 * HOUR_MS;
/** A store may be away for two days before a hold runs out for want of a renewal; what is met ends within three. */
const LENGTH_MS = 72 * HOUR_MS;
const RENEWED_WITH_MS = 48 * HOUR_MS;
/** A hold that nobody looks after ends all the same: for longer, extend the sunset. */
export const LONGEST_HELD_MS = 90 * 24 * HOUR_MS;
const GUARD = 'guard';

/**
 * The hold to be stored now, new or renewed; undefined where there is nothing to do. One that is no longer called for is
 * left to run out, since callers were told its end. What has ended is never revived: a hold begins before the sunset, and
 * is renewed only while it runs.
 */
export function holdFor(
  version: HeldVersion,
  rule: RetireWhen,
  retirement: Retirement,
  { now, hold }: { readonly now: EpochMs; readonly hold: Hold | undefined },
): Hold | undefined {
  const { sunset } = version.schedule;
  if (sunset === undefined || version.upstream === undefined || rule.onExceed !== 'hold') return undefined;
  if (retirement.kind !== 'exceeded') return undefined;
  if (now < sunset - AHEAD_MS) return undefined;
  if (hold === undefined ? now >= sunset : hold.until - now >= RENEWED_WITH_MS) return undefined;
  // Whole hours, so that gateways which look a moment apart make the same hold.
  const wanted = Math.ceil((Math.max(now, sunset) + LENGTH_MS) / HOUR_MS) * HOUR_MS;
  const until = Math.min(wanted, sunset + LONGEST_HELD_MS);
  if (until <= (hold?.until ?? sunset)) return undefined;
  const { api, label } = version;
  const reason = `${usageInWords(retirement.usage)}; to be retired ${retireWhenInWords(rule)}`;
  const from = hold?.from ?? now;
  return { kind: 'hold', id: `${GUARD}-${api}-${label}`, api, label, author: GUARD, reason, from, until };
}
