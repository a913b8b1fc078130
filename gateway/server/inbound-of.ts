// A request that will be judged, in the form in which forward/ streams its two bodies.
// Made by request-life.ts once the request has been read.
import type { Inbound } from '../forward/inbound.ts';
import { watchFraming } from './chunk-framing.ts';
import { forwardedField } from './forwarded-field.ts';
import { hasBody } from './message.ts';
import type { OpenRequest } from './open-request.ts';
import type { Reading } from './request-view.ts';

export interface InboundPorts {
  /** Whether upstreams get `Forwarded` too. */
  readonly sendsForwarded: boolean;
  readonly isDraining: () => boolean;
}

export function inboundOf(
  open: OpenRequest,
  { view, forwardedHost }: Extract<Reading, { kind: 'view' }>,
  { sendsForwarded, isDraining }: InboundPorts,
): Inbound {
  const { raw, res, client } = open;
  return {
    raw,
    res,
    view,
    forwardedFor: client.chain,
    forwardedHost,
    forwarded: sendsForwarded
      ? forwardedField({ chain: client.chain, scheme: view.scheme, host: forwardedHost })
      : undefined,
    hasBody: hasBody(raw, res),
    isPadded:
      raw.httpVersionMajor === 1 && raw.headers['transfer-encoding'] !== undefined
        ? watchFraming(raw)
        : undefined,
    mustClose: () => open.closeAfter || isDraining(),
    bytes: 0,
    gone: false,
    onGone: undefined,
    sealConnection: () => {
      open.closeAfter = true;
      open.connection.isSealed = true;
    },
  };
}
