// What an upstream may say of its own life in place of the gateway, for an API with `upstream_wins`.
// Asked when its answer is decorated, once for each of the gateway's singleton lines.

/** The fields that may be the upstream's; no other is its to say. */
export const UPSTREAM_SIGNALS: ReadonlySet<string> = new Set(['deprecation', 'sunset']);

/** RFC 9745 §2.1, and the bare word of its drafts (DEP-9). */
const DEPRECATION = /^(?:@-?\d{1,15}|true)$/;
/** Octets of an IMF-fixdate (RFC 9110 §5.6.7). */
const FIXDATE_LENGTH = 29;

/**
 * Whether the upstream's `value` may stay: one line of a field that may be its own, in a form that readers know (DEP-9,
 * SUN-1). Two lines are no singleton, whatever each of them says (DEP-2, SUN-3).
 */
export function isSoundSignal(name: string, value: string | readonly string[] | undefined): boolean {
  if (typeof value !== 'string' || !UPSTREAM_SIGNALS.has(name)) return false;
  return isHttpDate(value) || (name === 'deprecation' && DEPRECATION.test(value));
}

/** With the right day of the week: a sender may use no other form. */
function isHttpDate(text: string): boolean {
  return text.length === FIXDATE_LENGTH && new Date(text).toUTCString() === text;
}
