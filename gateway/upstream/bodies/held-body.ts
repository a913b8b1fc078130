// Holds a response until its body is complete and has the notice, or until it is certain to get none.
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { HeaderLines } from '../../exchange/answer-headers.ts';
import { editBody, treatHead } from '../../exchange/answers/noticed-answer.ts';
import type { ForwardOrder } from '../../exchange/directive.ts';
import type { Inbound } from '../../plane/port.ts';
import type { Coding, NoticeOutcome } from '../../policy/body-notice/editable.ts';
import type { Delivery } from '../call.ts';

export interface GatheredBody {
  /** Bytes. A larger body is not held. */
  readonly most: number;
  /** May be longer than the body. */
  buffer: Buffer;
  /** Received bytes. */
  length: number;
}

const NOTHING = Buffer.alloc(0);

export function startGathering(most: number): GatheredBody {
  return { most, buffer: NOTHING, length: 0 };
}

/** Copies the chunk. The buffer never exceeds twice the received bytes or `most`, even for tiny chunks. */
export function gather(gathered: GatheredBody, chunk: Buffer): void {
  const length = gathered.length + chunk.length;
  if (length > gathered.buffer.length) {
    // The first chunk may be the whole body.
    const capacity = gathered.length === 0 ? length : Math.max(length, Math.min(2 * length, gathered.most));
    const larger = Buffer.allocUnsafe(capacity);
    gathered.buffer.copy(larger, 0, 0, gathered.length);
    gathered.buffer = larger;
  }
  chunk.copy(gathered.buffer, gathered.length);
  gathered.length = length;
}

export function contentOf({ buffer, length }: GatheredBody): Buffer {
  return buffer.subarray(0, length);
}

interface HeldAnswer extends GatheredBody {
  readonly status: number;
  readonly headers: HeaderLines;
  readonly coding: Coding | undefined;
}

export interface HeldBodies {
  held: number;
  readonly most: number;
}

/** Bytes. Beyond it, responses are sent without a notice and are not stored for their idempotency key. */
export const MAX_HELD = 64 * 1_024 ** 2;

export type AnswerReceiver = Pick<Inbound, 'gone' | 'onClosed'>;

/** Counts a complete response as held until a slow client has read it. */
export function countUntilRead(client: AnswerReceiver, bytes: number, memory: HeldBodies): void {
  // A closed connection emits no second close event.
  if (client.gone) return;
  memory.held += bytes;
  client.onClosed(() => {
    memory.held -= bytes;
  });
}

export interface HeldBodyOptions {
  readonly notice: NonNullable<ForwardOrder['notice']>;
  readonly method: string;
  readonly delivery: Delivery;
  /** Called once per response that could carry the notice. */
  readonly onOutcome: (outcome: NoticeOutcome) => void;
  readonly heldBodies: HeldBodies;
  readonly inbound: AnswerReceiver;
}

/** If the upstream fails while its response is held, nothing has been sent, so the client gets a complete error. */
export function holdBody({
  notice,
  method,
  delivery,
  onOutcome,
  heldBodies,
  inbound,
}: HeldBodyOptions): Delivery {
  let held: HeldAnswer | undefined;

  function releaseHeld(): void {
    heldBodies.held -= held?.buffer.length ?? 0;
    held = undefined;
  }

  function release({ status, headers }: HeldAnswer, body: Buffer): boolean {
    releaseHeld();
    countUntilRead(inbound, body.length, heldBodies);
    delivery.head(status, headers);
    return body.length === 0 || delivery.write(body);
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
    write(chunk) {
      if (held === undefined) return delivery.write(chunk);
      heldBodies.held -= held.buffer.length;
      gather(held, chunk);
      heldBodies.held += held.buffer.length;
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
    discard: releaseHeld,
  };
}

type Decode = (bytes: Buffer, options: { readonly maxOutputLength: number; readonly info: true }) => unknown;
/** The result with `info`, which Node's types do not describe. */
interface Decoded {
  readonly buffer: Buffer;
  /** `bytesWritten`: the number of consumed input bytes. */
  readonly engine: { readonly bytesWritten: number };
}

const DECODERS: Readonly<Record<Coding, Decode>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Undefined for invalid or trailing bytes, and for content above `most` bytes. Decoders ignore trailing bytes. */
export function decode(bytes: Buffer, coding: Coding, most: number): Buffer | undefined {
  try {
    const { buffer, engine } = DECODERS[coding](bytes, { maxOutputLength: most, info: true }) as Decoded;
    return engine.bytesWritten === bytes.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}
