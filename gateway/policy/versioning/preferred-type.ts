// Which of a few media types a client likes best, by its Accept (RFC 9110 §12.5.1).
// Asked for answers the gateway makes itself: error bodies and the pages it publishes.
import { mediaType } from '@hapi/accept';

/**
 * The type of `offered` that `accept` ranks highest; the first of them when the field is absent, malformed, wants none
 * of them, or says the same of all. Only a type it spells out wins over the first (ERR-2).
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  offered: readonly [T, ...T[]],
): T {
  const [first, ...others] = offered;
  if (accept === undefined) return first;
  const spelled = accept.toLowerCase();
  // Asked of most requests: a wildcard or a type of no concern never needs the parser.
  const candidates = others.filter((type) => spelled.includes(type));
  if (candidates.length === 0) return first;
  const best = readRanking(accept, [first, ...candidates]);
  return offered.find((type) => type === best) ?? first;
}

function readRanking(accept: string, types: readonly string[]): string {
  try {
    return mediaType(accept, types).split(';', 1)[0] ?? '';
  } catch {
    // The parser throws for a malformed field; errors and pages never fail negotiation.
    return '';
  }
}
