// The last of what an answer passes: onto the client's response, counted.
// Written to by whatever may edit or hold an answer before, for upstreams' answers and for those given again.
import type { AnswerHeaders } from '../../../exchange/answer-headers.ts';
import type { Delivery } from '../../../upstream/delivery.ts';
import type { Inbound } from '../request/inbound.ts';

export interface ClientEvents {
  /** The client's head must be written before this returns. What Node refuses to write throws, and becomes a fault. */
  readonly onHead: (status: number, headers: AnswerHeaders) => void;
  readonly onEnd: () => void;
}

export function deliverTo(inbound: Inbound, { onHead, onEnd }: ClientEvents): Delivery {
  const { res } = inbound;
  return {
    head(status, headers) {
      onHead(status, headers);
      // Node keeps a head back until there is a body; what came together with it has been written by then.
      queueMicrotask(() => {
        if (inbound.bytes === 0 && !res.writableEnded && !res.destroyed) res.flushHeaders();
      });
    },
    data(chunk) {
      inbound.bytes += chunk.length;
      return res.write(chunk);
    },
    end: onEnd,
    discard: () => undefined,
  };
}
