// Holds a response until it is stored for its idempotency key: a crash loses no outcome that a client saw.
import type { HeaderLines } from '../../exchange/answer-headers.ts';
import type { IdempotencyClaim } from '../../exchange/directive.ts';
import type { Delivery } from '../call.ts';
import {
  type AnswerReceiver,
  contentOf,
  countUntilRead,
  type GatheredBody,
  gather,
  type HeldBodies,
  startGathering,
} from './held-body.ts';

export interface Capture extends Delivery {
  /** While true, a request that was sent continues even if the client disconnects, to store its outcome. */
  readonly mayStillStore: () => boolean;
}

export interface CaptureEvents {
  /** The response is sent on as it arrives and will not be stored. */
  readonly onStreaming: () => void;
  readonly onUndeliverable: (cause: unknown) => void;
}

export interface CaptureOptions extends CaptureEvents {
  readonly inbound: AnswerReceiver;
  readonly claim: Pick<
    IdempotencyClaim,
    'rules' | 'judge' | 'headOf' | 'store' | 'release' | 'reportUnstorable'
  >;
  readonly request: Uint8Array;
  readonly delivery: Delivery;
  readonly memory: HeldBodies;
}

interface CapturedAnswer extends GatheredBody {
  readonly status: number;
  readonly headers: HeaderLines;
  readonly storedHead: ReturnType<IdempotencyClaim['headOf']>;
}

export function captureAnswer(options: CaptureOptions): Capture {
  const { inbound, claim, request, delivery, memory, onStreaming, onUndeliverable } = options;
  let held: CapturedAnswer | undefined;
  let isStreaming = false;
  /** The response is too large or a stream, so it is not stored. Its end decides the outcome (IDM-6, 7). */
  let isUnstorable = false;
  let isEnded = false;

  const releaseHeld = (): void => {
    memory.held -= held?.buffer.length ?? 0;
    held = undefined;
  };

  function startStreaming(status: number, headers: HeaderLines): void {
    isStreaming = true;
    delivery.head(status, headers);
    onStreaming();
  }

  async function storeAndSend(whole: CapturedAnswer): Promise<void> {
    const { status, headers, storedHead } = whole;
    const body = contentOf(whole);
    await claim.store(request, { ...storedHead, body });
    try {
      // The outcome is stored even if the client has disconnected.
      if (inbound.gone) throw new Error('the client disconnected');
      countUntilRead(inbound, body.length, memory);
      delivery.head(status, headers);
      if (body.length > 0) delivery.write(body);
      delivery.end();
    } catch (thrown) {
      onUndeliverable(thrown);
    } finally {
      releaseHeld();
      delivery.discard?.();
    }
  }

  return {
    mayStillStore: () => !isStreaming,
    head(status, headers) {
      const retention = claim.judge(status, headers);
      if (retention === 'store') {
        const storedHead = claim.headOf(status, headers);
        held = { status, headers, storedHead, ...startGathering(claim.rules.maxAnswer) };
        return;
      }
      if (retention === 'release') claim.release();
      isUnstorable = retention === 'unstorable';
      startStreaming(status, headers);
    },
    write(chunk) {
      if (held === undefined) return delivery.write(chunk);
      memory.held -= held.buffer.length;
      gather(held, chunk);
      memory.held += held.buffer.length;
      // Without backpressure from the client, so that a slow client cannot delay the outcome. `held.most` and
      // `memory.most` bound the memory.
      if (held.length <= held.most && memory.held <= memory.most) return true;
      const { status, headers } = held;
      const body = contentOf(held);
      releaseHeld();
      isUnstorable = true;
      startStreaming(status, headers);
      return delivery.write(body);
    },
    end() {
      if (held === undefined) {
        if (isUnstorable) claim.reportUnstorable();
        delivery.end();
        return;
      }
      isEnded = true;
      void storeAndSend(held);
    },
    discard() {
      if (isEnded) return;
      releaseHeld();
      delivery.discard?.();
    },
  };
}
