// The method that a request begins with.
import { OFFERED_METHODS } from '../../exchange/request-view.ts';

const SPACE = 0x20;
/** Of those that are registered. */
const LONGEST_METHOD = 'UPDATEREDIRECTREF'.length;
/** RFC 9112 §2.2: line ends may stand before it. */
const METHOD = /^[\r\n]*(?:[A-Z-]+(?: |$)|$)/;

/** Whether a request may begin so, usual or not: with one of the methods that Node's parser knows, say. */
export function mayBeRequest(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, LONGEST_METHOD + 1);
  return METHOD.test(start);
}

/** `partial`: it has not come whole. `other`: none that the fast plane reads. */
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
