// Detects parameter names and path segments that lenient services read as the carrier of a version.
import { decodedOctets } from '../octets.ts';

/** A proxy and a service may each decode once too often. */
const DECODINGS = 3;
const PLAIN = /^[A-Za-z0-9_-]*$/;
/** `v1`, `V1`, `v-1`, `version 1`, `01`, and also `v` and `vx`. No other words: `vm` may be a resource. */
const LIKE_VERSION = /^[\s.+;/-]*(?:(?:v(?:er(?:sion)?)?[^\p{L}\p{N}]*)?\p{N}|v[x\P{L}]?$)/u;

/**
 * Whether a service may take a query parameter, named `raw` as sent, for `parameter`. The name may differ in case, have an
 * index, brackets, a NUL, blanks or invisible characters, be in full width, be encoded again, or be equal by the rules of
 * PHP.
 */
export function resemblesName(raw: string, parameter: string): boolean {
  if (PLAIN.test(raw) && raw.length !== parameter.length) return false;
  const wanted = parameter.toLowerCase();
  const name = normalised(raw);
  if (isName(name, wanted)) return true;
  // An index, a NUL or an encoded `=` ends the name. Express and Rack read `[version]` as `version`.
  const [, start = ''] = /^[[\]]*([^[\]\0=]*)/.exec(name) ?? [];
  return isName(start, wanted);
}

function isName(text: string, wanted: string): boolean {
  if (text.length < wanted.length) return false;
  return text.replace(/[\s\p{C}?]+|\.$/gu, '') === wanted || text.trim().replace(/[.\s[]/g, '_') === wanted;
}

/** Whether a path segment, as sent, looks like a version. `vendors` does not. */
export function resemblesVersion(segment: string): boolean {
  return LIKE_VERSION.test(normalised(segment));
}

/** Percent-decoded up to `DECODINGS` times, in lower case, with compatible characters replaced (NFKC). */
function normalised(raw: string): string {
  let text = raw;
  for (let round = 0; round < DECODINGS && /[%+]/.test(text); round += 1) text = decodedBytes(text);
  // Decoding gives UTF-8 bytes.
  const characters = /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
  return characters.normalize('NFKC').toLowerCase();
}

/** Decodes octet by octet, so that a malformed triplet hides nothing and nothing throws. `+` is a blank. */
export function decodedBytes(raw: string): string {
  return decodedOctets(raw.replaceAll('+', ' '));
}
