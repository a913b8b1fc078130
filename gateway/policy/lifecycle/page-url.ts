// Parses the URLs of pages that headers link to.
import { isLoopback } from '../notation.ts';

/** A URI of RFC 3986 whose authority the URL parser checks. It needs no escaping in a link value (LNK-3). */
const URI_TEXT =
  /^https?:\/\/[A-Za-z0-9\-._~:[\]@]+(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*)?(?:\?(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*)?(?:#(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*)?$/;
const LONGEST_URL = 2_000;

/** An absolute https URL for a Link value. http only for this machine. Undefined for any other text. */
export function parsePageUrl(text: string): string | undefined {
  if (text.length > LONGEST_URL || !URI_TEXT.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return safe && url.username === '' && url.password === '' ? url.href : undefined;
}
