// Types that all policies share. A policy is pure: (rule, input, now) -> decision.

/** An instant as milliseconds since 1970-01-01T00:00:00Z. Calendar arithmetic uses `Temporal`, never this number. */
export type EpochMs = number & { readonly clock?: 'epoch' };

export const DAY_MS = 86_400_000;

/** Milliseconds of a monotonic clock, for durations. The types of the two clocks are not assignable to each other. */
export type MonotonicMs = number & { readonly clock?: 'monotonic' };

export type HeaderLine = readonly [name: string, value: string];

/** Fields by lower-case name, as Node delivers them. Node joins repeated fields with ", " except a few. */
export type FieldRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The header fields of a request. Names are lower case. */
export interface Fields {
  readonly get: (name: string) => string | undefined;
  /** Visits each field in order. Fields that cannot be joined, such as Set-Cookie, are visited once per line. */
  readonly each: (visit: (name: string, value: string) => void) => void;
  /** A cache. Requests with the same header section share these fields. */
  forwarded?: unknown;
}

/** A value that is available at once (a cache or lease hit) or later. Callers await only promises. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` synchronously unless `value` is a promise. */
export function andThen<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** A refusal with 503 and the time of the next attempt, as a delay and as an instant of the real clock (ERR-1, ERR-5). */
export interface RetryLater<Reason extends string = string> {
  readonly reason: Reason;
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

/** A store did not answer in time. The command may or may not have been executed. */
export class StoreUnavailable extends Error {
  readonly code = 'store_unavailable';
}

/**
 * Characters that no text for people may contain: control characters, line separators, lone surrogates, and characters that
 * change the writing direction, which would make the rest of a line read differently.
 */
const CONTROL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The first control character of `text` that is not in `allowed`, as `U+202E`. Undefined if there is none. */
export function controlIn(text: string, allowed = ''): string | undefined {
  for (const [found] of text.matchAll(CONTROL))
    if (!allowed.includes(found))
      return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return undefined;
}
