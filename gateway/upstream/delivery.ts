// How an answer reaches the client: its head, then its bytes, then its end.
// What a call to an upstream writes to; held-body.ts stands before it where a body may be edited.
import type { AnswerSink } from '../plane/port.ts';

export interface Delivery extends Pick<AnswerSink, 'head' | 'write' | 'end'> {
  /** After the last of these, whatever it was: nothing is kept any more. */
  readonly discard: () => void;
}
