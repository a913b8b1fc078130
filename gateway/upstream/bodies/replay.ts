// Replays a stored response to a request with the same idempotency key and payload (IDM-3).
import { HeaderLines } from '../../exchange/answer-headers.ts';
import { Fault, type Refusal, type ReplayOrder } from '../../exchange/directive.ts';
import type { Completion } from '../../exchange/facts.ts';
import type { AnswerSink, Inbound } from '../../plane/port.ts';
import type { Delivery } from '../call.ts';
import { countUntilRead, type HeldBodies, holdBody } from './held-body.ts';
import { readWhole } from './whole-body.ts';

const MISMATCH: Refusal = { reason: 'idempotency_mismatch' };

export interface ReplayPorts {
  readonly sink: AnswerSink;
  readonly memory: HeldBodies;
}

/**
 * Resolves when the response is written, or with a refusal before its first byte. The key has no claim to release.
 * @throws Fault `internal` if the body ends early
 */
export async function replayAnswer(
  inbound: Inbound,
  { forward, stored, isSame, maxBody, refuseForMemory }: ReplayOrder,
  completion: Completion,
  { sink, memory }: ReplayPorts,
): Promise<Refusal | undefined> {
  const body = await readWhole(inbound, maxBody, memory);
  switch (body.kind) {
    case 'whole': {
      const isReplay = isSame(body.bytes);
      body.free();
      if (!isReplay) break;
      if (memory.held + stored.body.length > memory.most) return refuseForMemory();
      countUntilRead(inbound, stored.body.length, memory);
      completion.idempotency = 'replayed';
      const { notice } = forward;
      const { method } = inbound.view;
      const onOutcome = (outcome: NonNullable<Completion['bodyNotice']>): void => {
        completion.bodyNotice = outcome;
      };
      sendStored(
        stored,
        notice === undefined
          ? sink
          : holdBody({ notice, method, delivery: sink, onOutcome, heldBodies: memory, inbound }),
      );
      return undefined;
    }
    case 'over':
      break;
    // The payloads cannot be compared, which is not a mismatch (IDM-3).
    case 'full':
      return refuseForMemory();
    case 'refused':
      return body.refusal;
    case 'broken':
      throw new Fault('internal', { cause: new Error('the client ended its body early') });
    default:
      return body satisfies never;
  }
  completion.idempotency = 'mismatch';
  return MISMATCH;
}

function sendStored({ status, headers, body }: ReplayOrder['stored'], delivery: Delivery): void {
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
