// Replays a stored response to a request with the same idempotency key and payload (IDM-3).
import { HeaderLines } from '../../exchange/answer-headers.ts';
import { Fault, type Refusal, type ReplayOrder } from '../../exchange/directive.ts';
import type { Completion } from '../../exchange/facts.ts';
import type { AnswerSink, Inbound } from '../../plane/port.ts';
import type { Delivery } from '../call.ts';
import { countWhileSent, type HeldBodies, holdBody } from './held-body.ts';
import { readWhole } from './whole-body.ts';

const MISMATCH: Refusal = { reason: 'idempotency_mismatch' };

export interface ReplayPorts {
  readonly sink: AnswerSink;
  readonly room: HeldBodies;
}

/**
 * Resolves when the response is written, or with a refusal before its first byte. The key has no claim to release.
 * @throws Fault `internal` if the body ends early
 */
export async function replayAnswer(
  inbound: Inbound,
  { forward, kept, isSame, maxBody, noRoom }: ReplayOrder,
  completion: Completion,
  { sink, room }: ReplayPorts,
): Promise<Refusal | undefined> {
  const body = await readWhole(inbound, maxBody, room);
  switch (body.kind) {
    case 'whole': {
      const isReplay = isSame(body.bytes);
      body.free();
      if (!isReplay) break;
      if (room.held + kept.body.length > room.most) return noRoom();
      countWhileSent(inbound, kept.body.length, room);
      completion.idempotency = 'replayed';
      const { notice } = forward;
      const { method } = inbound.view;
      const onOutcome = (outcome: NonNullable<Completion['bodyNotice']>): void => {
        completion.bodyNotice = outcome;
      };
      give(
        kept,
        notice === undefined
          ? sink
          : holdBody({ notice, method, delivery: sink, onOutcome, heldBodies: room, inbound }),
      );
      return undefined;
    }
    case 'over':
      break;
    // The payloads cannot be compared, which is not a mismatch (IDM-3).
    case 'full':
      return noRoom();
    case 'refused':
      return body.refusal;
    case 'broken':
      throw new Fault('internal', { cause: new Error('the client cut its body') });
    default:
      return body satisfies never;
  }
  completion.idempotency = 'mismatch';
  return MISMATCH;
}

function give({ status, headers, body }: ReplayOrder['kept'], delivery: Delivery): void {
  const head = new HeaderLines({ 'idempotency-replayed': 'true', ...headers });
  if (status !== 204 && status !== 304) head.set('content-length', String(body.length));
  try {
    delivery.head(status, head);
    if (body.length > 0) delivery.write(Buffer.from(body));
    delivery.end();
  } finally {
    delivery.discard?.();
  }
}
