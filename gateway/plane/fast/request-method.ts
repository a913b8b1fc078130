// Recognises the method at the start of a request, and spaces that Node's parser would accept.
import type { RequestRefusal } from '../../exchange/directive.ts';
import { OFFERED_METHODS } from '../../exchange/request-view.ts';

const SPACE = 0x20;
/** Of the registered methods. */
const LONGEST_METHOD = 'UPDATEREDIRECTREF'.length;
/** RFC 9112 §2.2: empty lines may precede the method. */
const METHOD = /^[\r\n]*(?:[A-Z-]+(?: |$)|$)/;

/** RFC 9112 §3: one space before and one after the target. */
const MORE_SPACES = /^[A-Z-]+ (?: |[!-~]+ {2})/;

export const EXTRA_SPACE: RequestRefusal = {
  reason: 'request_malformed',
  status: 400,
  message: 'The request is malformed.',
};

/** Whether more than one space separates the parts of the request line (SMG-11). */
export function hasExtraSpace(bytes: Buffer): boolean {
  return MORE_SPACES.test(bytes.toString('latin1'));
}

/** Whether a request may begin like this, with any method that Node's parser knows. */
export function mayBeRequest(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, LONGEST_METHOD + 1);
  return METHOD.test(start);
}

/** `partial`: incomplete. `other`: a method that the fast plane does not parse. */
export function methodOf(bytes: Buffer): string {
  const { length } = bytes;
  for (const method of OFFERED_METHODS) {
    let at = 0;
    const { length: letters } = method;
    while (at < letters && at < length && bytes[at] === method.charCodeAt(at)) at += 1;
    if (at === length) return 'partial';
    if (at === letters && bytes[at] === SPACE) return method;
  }
  return 'other';
}
