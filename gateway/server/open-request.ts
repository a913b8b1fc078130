// What a listener holds of one request between its first line and the end of its answer.
// Made by request-life.ts; give-answer.ts writes to it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExchangeFacts } from '../exchange/facts.ts';
import type { RequestView } from '../exchange/request-view.ts';
import { http2StreamOf, type Inbound } from '../forward/inbound.ts';

export interface OpenRequest {
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
  readonly facts: ExchangeFacts;
  readonly isHttp2: boolean;
  /** Undefined when the request could not be read. */
  readonly view: RequestView | undefined;
  /** Set for what is judged; what the listener answers itself has none. */
  inbound: Inbound | undefined;
  /** Body bytes of an answer made here. */
  bytes: number;
  gone: boolean;
  answered: boolean;
  /** The connection ends with this answer. */
  closeAfter: boolean;
}

export function openRequest(
  raw: IncomingMessage,
  res: ServerResponse,
  facts: ExchangeFacts,
  view: RequestView | undefined,
): OpenRequest {
  return {
    raw,
    res,
    facts,
    isHttp2: http2StreamOf(res) !== undefined,
    view,
    inbound: undefined,
    bytes: 0,
    gone: false,
    answered: false,
    closeAfter: false,
  };
}
