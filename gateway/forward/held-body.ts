// Holds an answer back until its body is whole and the notice is in it, or until it is clear that none will be.
// Stands between the call to an upstream and the client, on routes with a notice only.
import type { HeaderLines } from '../exchange/answer-headers.ts';
import type { ForwardOrder } from '../exchange/directive.ts';
import { editBody, treatHead } from '../exchange/noticed-answer.ts';
import type { Coding, NoticeOutcome } from '../policy/body-notice/editable.ts';
import { decode } from './content-coding.ts';
import type { Delivery } from './delivery.ts';
import { contentOf, type Gathered, gather, startGathering } from './gathered.ts';

interface Held extends Gathered {
  readonly status: number;
  readonly headers: HeaderLines;
  readonly coding: Coding | undefined;
}

/** What all held bodies of a process may take together. */
export interface HeldBodies {
  /** Bytes held at the moment. */
  held: number;
  readonly most: number;
}

/** Bytes; beyond it answers go on without a notice. */
export const MOST_HELD = 64 * 1_024 ** 2;

/** Whoever takes an answer: an `Inbound`, as far as it matters here. */
export interface Taker {
  readonly gone: boolean;
  readonly res: { readonly once: (event: 'close', listener: () => void) => unknown };
}

/** Of an answer that is all here, a client that takes its time holds what it has not taken. */
export function holdWhileGiven({ res, gone }: Taker, bytes: number, room: HeldBodies): void {
  // What has closed does not close again.
  if (gone) return;
  room.held += bytes;
  res.once('close', () => {
    room.held -= bytes;
  });
}

export interface HeldBodyOptions {
  readonly notice: NonNullable<ForwardOrder['notice']>;
  readonly method: string;
  readonly delivery: Delivery;
  /** Told once of each answer that could have carried the notice. */
  readonly onOutcome: (outcome: NoticeOutcome) => void;
  readonly heldBodies: HeldBodies;
  readonly inbound: Taker;
}

/** An upstream that fails while its answer is held leaves nothing written, so that the client gets a whole error. */
export function holdBody({
  notice,
  method,
  delivery,
  onOutcome,
  heldBodies,
  inbound,
}: HeldBodyOptions): Delivery {
  let held: Held | undefined;

  function letGo(): void {
    heldBodies.held -= held?.store.length ?? 0;
    held = undefined;
  }

  function release({ status, headers }: Held, body: Buffer): boolean {
    letGo();
    holdWhileGiven(inbound, body.length, heldBodies);
    delivery.head(status, headers);
    return body.length === 0 || delivery.data(body);
  }

  return {
    head(status, headers) {
      const treatment = treatHead(notice, method, status, headers);
      if (treatment.kind === 'hold') {
        const { coding, most } = treatment;
        held = { status, headers, coding, ...startGathering(most) };
        return;
      }
      if (treatment.outcome !== undefined) onOutcome(treatment.outcome);
      delivery.head(status, headers);
    },
    data(chunk) {
      if (held === undefined) return delivery.data(chunk);
      heldBodies.held -= held.store.length;
      gather(held, chunk);
      heldBodies.held += held.store.length;
      if (held.length <= held.most && heldBodies.held <= heldBodies.most) return true;
      onOutcome('too_large');
      return release(held, contentOf(held));
    },
    end() {
      if (held !== undefined) {
        const received = contentOf(held);
        const { coding, most } = held;
        const content = coding === undefined ? received : decode(received, coding, most);
        const { outcome, body } =
          content === undefined
            ? { outcome: 'coding' as const, body: received }
            : editBody(notice, held.headers, { received, content });
        onOutcome(outcome);
        release(held, body);
      }
      delivery.end();
    },
    discard: letGo,
  };
}
