// A request that will be judged, in the form in which upstream/ streams its two bodies.
// Made by request-life.ts once the request has been read.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { forwardedField } from '../../../upstream/forwarded-field.ts';
import type { Connections } from '../connection/connections.ts';
import { watchFraming } from './chunk-framing.ts';
import { http2StreamOf, type NodeInbound } from './inbound.ts';
import { hasBody } from './message.ts';
import type { OpenRequest } from './open-request.ts';
import type { Reading } from './request-view.ts';

export interface InboundPorts {
  /** Whether upstreams get `Forwarded` too. */
  readonly sendsForwarded: boolean;
  readonly connections: Connections;
  readonly isDraining: () => boolean;
}

export function inboundOf(
  open: OpenRequest,
  { view, forwardedHost }: Extract<Reading, { kind: 'view' }>,
  { sendsForwarded, connections, isDraining }: InboundPorts,
): NodeInbound {
  const { raw, res, client } = open;
  return {
    raw,
    res,
    view,
    httpVersion: raw.httpVersion,
    forwardedFor: client.chain,
    forwardedHost,
    forwarded: sendsForwarded
      ? forwardedField({ chain: client.chain, scheme: view.scheme, host: forwardedHost })
      : undefined,
    hasBody: hasBody(raw, res),
    body: raw,
    endedWhole: () => endedWhole(raw, res),
    isPadded:
      raw.httpVersionMajor === 1 && raw.headers['transfer-encoding'] !== undefined
        ? watchFraming(raw)
        : undefined,
    mustClose: () => open.closeAfter || isDraining(),
    bytes: 0,
    gone: false,
    onGone: undefined,
    onClosed: (listener) => void res.once('close', listener),
    sealConnection: () => {
      open.closeAfter = true;
      connections.seal(raw.socket);
    },
  };
}

/** Node also ends the body of an HTTP/2 stream that was reset. */
function endedWhole(raw: IncomingMessage, res: ServerResponse): boolean {
  const stream = http2StreamOf(res);
  return stream === undefined ? raw.complete : !stream.closed && !stream.aborted;
}
