// Where a version that cannot be served was named, and which status it is refused with for that (STAT-1).
// Asked by the pipeline and by refusal-answer.ts.
import type { Carrier, Claim } from '../policy/versioning/resolution.ts';
import type { Refusal } from './directive.ts';
import type { Decision } from './facts.ts';

/** Known also when one value alone was refused, so that operators see where wrong versions come in. */
export function refusedCarrier(refusal: Refusal): Carrier | undefined {
  if (refusal.reason === 'version_unacceptable') return 'accept';
  return 'claim' in refusal ? refusal.claim.carrier : undefined;
}

/** STAT-1: where a URL leads nowhere it is not found, a media type is not acceptable or not supported, the rest is bad. */
export function statusOfCarrier({ carrier }: Claim): 400 | 404 | 406 | 415 {
  switch (carrier) {
    case 'path':
    case 'subdomain':
      return 404;
    case 'accept':
      return 406;
    case 'content_type':
      return 415;
    case 'header':
    case 'query':
    case 'pin':
    case 'default':
    case 'unversioned':
      return 400;
    default: {
      const never: never = carrier;
      throw new Error(`unhandled carrier ${JSON.stringify(never)}`);
    }
  }
}

/** STAT-1: an API may choose between 400, 404 and 406; a body that cannot be read is 415 whatever it chose. */
export function statusOfUnknown(claim: Claim, { api }: Decision): 400 | 404 | 406 | 415 {
  const usual = statusOfCarrier(claim);
  return usual === 415 ? usual : (api?.unknownVersionStatus ?? usual);
}
