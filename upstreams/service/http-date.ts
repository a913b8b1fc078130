// Reads HTTP dates (RFC 9110 §5.6.7): the present format and the two obsolete ones that recipients must accept.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = String.raw`(?<time>(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)`;
const FORMS = [
  String.raw`[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT`,
  String.raw`[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) ${TIME} GMT`,
  String.raw`[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** Two-digit years from here on belong to the previous century. */
const FIRST_OF_LAST_CENTURY = 70;

/** Milliseconds since 1970; undefined for a text that is not an HTTP date, or for a date that does not exist. */
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
