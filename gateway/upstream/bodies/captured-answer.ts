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
  /** Whether the outcome may still be stored, so that the call continues without a client. */
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
    'rules' | 'judge' | 'headOf' | 'keep' | 'release' | 'reportTooLarge'
  >;
  readonly request: Uint8Array;
  readonly delivery: Delivery;
  readonly memory: HeldBodies;
}

interface CapturedAnswer extends GatheredBody {
  readonly status: number;
  readonly headers: HeaderLines;
  readonly kept: ReturnType<IdempotencyClaim['headOf']>;
}

export function captureAnswer(options: CaptureOptions): Capture {
  const { inbound, claim, request, delivery, memory, onStreaming, onUndeliverable } = options;
  let held: CapturedAnswer | undefined;
  let isStreaming = false;
  /** The response is too large to store. Its end decides the outcome (IDM-6, IDM-7). */
  let isTooLarge = false;
  let isEnded = false;

  const releaseHeld = (): void => {
    memory.held -= held?.store.length ?? 0;
    held = undefined;
  };

  function startStreaming(status: number, headers: HeaderLines): void {
    isStreaming = true;
    delivery.head(status, headers);
    onStreaming();
  }

  async function storeAndSend(whole: CapturedAnswer): Promise<void> {
    const { status, headers, kept } = whole;
    const body = contentOf(whole);
    await claim.keep(request, { ...kept, body });
    try {
      // The outcome is stored even if the client has disconnected.
      if (inbound.gone) throw new Error('the client left');
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
      const keeping = claim.judge(status, headers);
      if (keeping === 'keep') {
        const kept = claim.headOf(status, headers);
        held = { status, headers, kept, ...startGathering(claim.rules.maxAnswer) };
        return;
      }
      if (keeping === 'release') claim.release();
      isTooLarge = keeping === 'unkept';
      startStreaming(status, headers);
    },
    write(chunk) {
      if (held === undefined) return delivery.write(chunk);
      memory.held -= held.store.length;
      gather(held, chunk);
      memory.held += held.store.length;
      // Bounded, so that a client that reads nothing cannot delay the outcome.
      if (held.length <= held.most && memory.held <= memory.most) return true;
      const { status, headers } = held;
      const body = contentOf(held);
      releaseHeld();
      isTooLarge = true;
      startStreaming(status, headers);
      return delivery.write(body);
    },
    end() {
      if (held === undefined) {
        if (isTooLarge) claim.reportTooLarge();
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
