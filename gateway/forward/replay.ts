// Gives an answer again that was kept for a key, to a request with the same payload (IDM-3).
// Called by the forwarder for a `replay` directive; what is done to an upstream's answer is done to it anew.
import type { AnswerHeaders } from '../exchange/answer-headers.ts';
import { Fault, type Refusal, type ReplayOrder } from '../exchange/directive.ts';
import type { Completion } from '../exchange/facts.ts';
import { deliverTo } from './client-delivery.ts';
import type { Delivery } from './delivery.ts';
import { type HeldBodies, holdBody, holdWhileGiven } from './held-body.ts';
import type { Inbound } from './inbound.ts';
import { readWhole } from './whole-body.ts';

const MISMATCH: Refusal = { reason: 'idempotency_mismatch' };

export interface ReplayPorts {
  /** Makes of an upstream's head what the client gets. */
  readonly finishHead: (status: number, headers: AnswerHeaders) => void;
  readonly room: HeldBodies;
}

/**
 * Resolves when the answer has been written, or with a refusal while nothing has been. Nobody else has a claim on the key,
 * so that nothing has to be said of it. @throws Fault `internal` when the body breaks off
 */
export async function replayAnswer(
  inbound: Inbound,
  { forward, kept, isSame, maxBody, noRoom }: ReplayOrder,
  completion: Completion,
  { finishHead, room }: ReplayPorts,
): Promise<Refusal | undefined> {
  const body = await readWhole(inbound, maxBody, room);
  switch (body.kind) {
    case 'whole': {
      const isReplay = isSame(body.bytes);
      body.free();
      if (!isReplay) break;
      if (room.held + kept.body.length > room.most) return noRoom();
      holdWhileGiven(inbound, kept.body.length, room);
      completion.idempotency = 'replayed';
      const given = deliverTo(inbound, {
        onHead(status, headers) {
          finishHead(status, headers);
          inbound.res.writeHead(status, headers);
        },
        onEnd: () => void inbound.res.end(),
      });
      const { notice } = forward;
      const { method } = inbound.view;
      const onOutcome = (outcome: NonNullable<Completion['bodyNotice']>): void => {
        completion.bodyNotice = outcome;
      };
      give(
        kept,
        notice === undefined
          ? given
          : holdBody({ notice, method, delivery: given, onOutcome, heldBodies: room, inbound }),
      );
      return undefined;
    }
    // Larger than any whose outcome is kept.
    case 'over':
      break;
    // Nobody knows whether it is the same, which is no word on the payload (IDM-3).
    case 'full':
      return noRoom();
    case 'refused':
      return body.refusal;
    case 'broken':
      throw new Fault('internal', { cause: new Error('the client cut its body') });
    default: {
      const never: never = body;
      throw new Error(`unhandled body ${JSON.stringify(never)}`);
    }
  }
  completion.idempotency = 'mismatch';
  return MISMATCH;
}

function give({ status, headers, body }: ReplayOrder['kept'], delivery: Delivery): void {
  const head: AnswerHeaders = { 'idempotency-replayed': 'true' };
  for (const [name, value] of Object.entries(headers))
    head[name] = typeof value === 'string' ? value : [...value];
  if (status !== 204 && status !== 304) head['content-length'] = String(body.length);
  try {
    delivery.head(status, head);
    if (body.length > 0) delivery.data(Buffer.from(body));
    delivery.end();
  } finally {
    delivery.discard();
  }
}
