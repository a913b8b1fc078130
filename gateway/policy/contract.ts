// Words every policy shares. Policies are pure: (rule, input, now) -> decision;
// they know no socket, clock, framework or store.

/** An instant as milliseconds since 1970-01-01T00:00:00Z. Calendar arithmetic uses `Temporal`, never this number. */
export type EpochMs = number & { readonly clock?: 'epoch' };

/** Milliseconds. */
export const DAY_MS = 86_400_000;

/** Milliseconds of a clock that is never set, for durations. No instant of one clock passes for one of the other. */
export type MonotonicMs = number & { readonly clock?: 'monotonic' };

/** One field line of an answer; the name is lower case. */
export type HeaderLine = readonly [name: string, value: string];

/** Fields by lower-case name, as Node delivers them: repeats are joined by ", " except the few it keeps apart. */
export type FieldRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The fields of a request, read one by one. Names are lower case. */
export interface Fields {
  /** Repeats joined by ", ". */
  readonly get: (name: string) => string | undefined;
  /** Visits each field in turn; once for each line where lines cannot be joined, as those of Set-Cookie. */
  readonly each: (visit: (name: string, value: string) => void) => void;
  /** Kept with the fields, since requests with the same field section share them. */
  forwarded?: unknown;
}

/** A value that may be known at once (a cache or lease hit) or only later; callers await only what is a promise. */
export type MaybePromise<T> = T | Promise<T>;

/** `next` of `value`: at once unless `value` is a promise. */
export function andThen<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Why a request is answered with 503, and when to try again: after a delay, at an instant of the real clock (ERR-1, ERR-5). */
export interface RetryLater<Reason extends string = string> {
  readonly reason: Reason;
  /** At least 1. */
  readonly retryAfterSeconds: number;
  readonly restoredAt: EpochMs;
}

/** `now`: the real time. */
export function retryLater<Reason extends string>(
  reason: Reason,
  seconds: number,
  now: EpochMs,
): RetryLater<Reason> {
  return { reason, retryAfterSeconds: seconds, restoredAt: now + seconds * 1000 };
}

/** A store did not answer in time; nothing of what was asked may have happened. */
export class StoreUnavailable extends Error {
  readonly code = 'store_unavailable';
}

/**
 * What no text for people holds: control characters, separators that end a line, halves of characters, and what turns the
 * direction of writing: behind one a line reads otherwise than it is, and so does what follows it.
 */
const CONTROL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The first control character of `text` that is not one of `allowed`, as `U+202E`; undefined where there is none. */
export function controlIn(text: string, allowed = ''): string | undefined {
  for (const [found] of text.matchAll(CONTROL))
    if (!allowed.includes(found))
      return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return undefined;
}
