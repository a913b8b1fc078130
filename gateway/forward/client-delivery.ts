// The last of what an answer passes: onto the client's response, counted.
// Written to by whatever may edit or hold an answer before, for upstreams' answers and for those given again.
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { HeaderLines } from '../exchange/answer-headers.ts';
import type { Delivery } from './delivery.ts';
import type { Inbound } from './inbound.ts';

export interface ClientEvents {
  /** The client's head must be written before this returns. What Node refuses to write throws, and becomes a fault. */
  readonly onHead: (status: number, headers: HeaderLines) => void;
  readonly onEnd: () => void;
}

/** Throws what Node refuses to write. */
export function writeHead(res: ServerResponse, status: number, { flat }: HeaderLines): void {
  res.writeHead(status, flat as OutgoingHttpHeader[]);
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
