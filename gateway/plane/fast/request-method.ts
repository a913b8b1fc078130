// Recognises the method at the start of a request.
import { OFFERED_METHODS } from '../../exchange/request-view.ts';

const SPACE = 0x20;
/** Of the registered methods. */
const LONGEST_METHOD = 'UPDATEREDIRECTREF'.length;
/** RFC 9112 §2.2: empty lines may precede the method. */
const METHOD = /^[\r\n]*(?:[A-Z-]+(?: |$)|$)/;

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
