// Dates as HTTP writes them (RFC 9110 §5.6.7): the form of today and the two before it, which are still to be understood.
// Read from conditions of a request and from `Retry-After`; whatever else a program may take for a date is none here.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = String.raw`(?<time>(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)`;
const FORMS = [
  String.raw`[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT`,
  String.raw`[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) ${TIME} GMT`,
  String.raw`[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** Of years in two digits: this one and later ones are of the century before. */
const FIRST_OF_LAST_CENTURY = 70;

/** Milliseconds since 1970; undefined for what is no date of HTTP, or of no calendar. */
export function readHttpDate(written: string): number | undefined {
  const parts = FORMS.map((form) => form.exec(written)?.groups).find((found) => found !== undefined);
  if (parts === undefined) return undefined;
  const month = String(MONTHS.indexOf(parts.month ?? '') + 1).padStart(2, '0');
  const day = (parts.day ?? '').trim().padStart(2, '0');
  const at = Date.parse(`${yearOf(parts.year ?? '')}-${month}-${day}T${parts.time}Z`);
  return Number.isNaN(at) || new Date(at).getUTCDate() !== Number(day) ? undefined : at;
}

function yearOf(written: string): string {
  if (written.length === 4) return written;
  return `${Number(written) < FIRST_OF_LAST_CENTURY ? '20' : '19'}${written}`;
}
