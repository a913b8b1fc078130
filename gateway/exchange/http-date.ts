// Dates of HTTP fields, in the three forms that a recipient reads (RFC 9110 §5.6.7).
// Stricter than `Date.parse`, which takes the number 9999 for a year.
import type { EpochMs } from '../policy/contract.ts';

const TIME = String.raw`\d{2}:\d{2}:\d{2}`;
const WITH_ZONE = new RegExp(
  `^[A-Z][a-z]{2,8}, (?:\\d{2} [A-Z][a-z]{2} \\d{4}|\\d{2}-[A-Z][a-z]{2}-\\d{2}) ${TIME} GMT$`,
);
/** Of C's asctime, which names no zone and means GMT. */
const WITHOUT_ZONE = new RegExp(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${TIME} \\d{4}$`);

/** Undefined for what is not one date. */
export function httpDate(field: string | readonly string[] | undefined): EpochMs | undefined {
  if (typeof field !== 'string') return undefined;
  const written = field.trim();
  const text = WITHOUT_ZONE.test(written) ? `${written} GMT` : written;
  if (text === written && !WITH_ZONE.test(written)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
