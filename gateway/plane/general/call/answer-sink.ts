// Where an upstream's answer, or one given again, goes in the end: onto the client's response, counted.
// Written to by upstream/, after whatever edits or holds an answer.
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { HeaderLines } from '../../../exchange/answer-headers.ts';
import type { AnswerSink } from '../../port.ts';
import { http2StreamOf } from '../request/message.ts';
import type { NodeInbound } from '../request/open-request.ts';

const NGHTTP2_INTERNAL_ERROR = 2;

/** Throws what Node refuses to write. */
export function writeHead(res: ServerResponse, status: number, { flat }: HeaderLines): void {
  res.writeHead(status, flat as OutgoingHttpHeader[]);
}

/** `head`: writes the client's head before it returns. What Node refuses to write throws. */
export function answerTo(inbound: NodeInbound, { head, end }: Pick<AnswerSink, 'head' | 'end'>): AnswerSink {
  const { res } = inbound;
  return {
    head(status, headers) {
      head(status, headers);
      // Node keeps a head back until there is a body; what came together with it has been written by then.
      queueMicrotask(() => {
        if (inbound.bytes === 0 && !res.writableEnded && !res.destroyed) res.flushHeaders();
      });
    },
    write(chunk) {
      inbound.bytes += chunk.length;
      return res.write(chunk);
    },
    end,
    reset() {
      const stream = http2StreamOf(res);
      if (stream === undefined) res.destroy();
      else stream.close(NGHTTP2_INTERNAL_ERROR);
    },
    onDrain: (resume) => void res.once('drain', resume),
  };
}
