// How an answer reaches the client: its head, then its bytes, then its end.
// What a call to an upstream writes to; held-body.ts stands before it where a body may be edited.
import type { HeaderLines } from '../exchange/answer-headers.ts';

export interface Delivery {
  readonly head: (status: number, headers: HeaderLines) => void;
  /** False: no more before the client's side has drained. */
  readonly data: (chunk: Buffer) => boolean;
  readonly end: () => void;
  /** After the last of these, whatever it was: nothing is kept any more. */
  readonly discard: () => void;
}
