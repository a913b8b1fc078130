// A key that is this request's, as whoever holds it sees it: what it asks of it, and says at the end.
// Made by claim.ts, carried to the forwarder in the order; the first word on what came of the request stands.
import type { Keeping } from '../policy/idempotency/keeping.ts';
import type { IdempotencyRefusal, IdempotencyRules, KeptAnswer } from '../policy/idempotency/rules.ts';
import type { HeaderLines } from './answer-headers.ts';

export interface Claim {
  readonly rules: IdempotencyRules;
  /**
   * To be called when the body is here, which may have taken its time: from now on the lock lasts for the whole of an
   * upstream's total. A refusal where the key is another's by now.
   */
  readonly renew: () => Promise<IdempotencyRefusal | undefined>;
  readonly judge: (status: number, headers: HeaderLines) => Keeping;
  /** What will be kept of a head; taken before anything is added to it. */
  readonly headOf: (status: number, headers: HeaderLines) => Pick<KeptAnswer, 'status' | 'headers'>;
  /** Resolves once the answer to `request` is kept, or is not going to be. Never rejects. */
  readonly keep: (
    request: Uint8Array,
    answer: Pick<KeptAnswer, 'status' | 'headers' | 'body'>,
  ) => Promise<void>;
  /** Where a key is required and there is no room for the body that goes with it. */
  readonly noRoom: () => IdempotencyRefusal;
  /** The request was not carried out, or may be carried out again. */
  readonly release: () => void;
  /** The request goes on without the key: it may be carried out again. */
  readonly abandon: () => void;
  /** It was carried out and answered to the end, with more than is kept (IDM-7). */
  readonly forgo: () => void;
  /** It was sent, and nobody knows what came of it (IDM-6). */
  readonly lose: () => void;
}
