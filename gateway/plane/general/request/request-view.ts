// Turns Node's request into the view that the exchange judges, or into a refusal.
import type { IncomingMessage } from 'node:http';
import type { RequestRefusal } from '../../../exchange/directive.ts';
import { OFFERED_METHODS } from '../../../exchange/request-view.ts';
import {
  expectationRefusal,
  type HeadBounds,
  type RequestHead,
  strictnessRefusal,
} from '../../../exchange/strictness.ts';
import { type ReadingContext, type RequestReading, readResource } from '../../request-reading.ts';
import { handshakeRefusal, mayUpgrade } from '../connection/handshake.ts';

const OFFERED: ReadonlySet<string> = new Set(OFFERED_METHODS);

const refused = (refusal: RequestRefusal): RequestReading => ({ kind: 'refused', refusal });

/** `raw.url` must be the target as received. */
export function readRequest(
  raw: IncomingMessage & RequestHead,
  context: ReadingContext & { readonly bounds: HeadBounds },
): RequestReading {
  const { isHttp2, scheme, bounds } = context;
  const { method = '', url = '', headers, httpVersion } = raw;
  const refusal = strictnessRefusal(raw, isHttp2, bounds);
  if (refusal !== undefined) return refused(refusal);
  if (!OFFERED.has(method)) return refused({ reason: 'method_unknown', method });
  if (isHttp2 && headers[':scheme'] !== scheme)
    return refused({
      reason: 'request_malformed',
      status: 400,
      message: 'The :scheme does not fit the connection.',
    });
  const unsound =
    (headers.upgrade === undefined ? undefined : handshakeRefusal(raw)) ?? expectationRefusal(raw);
  if (unsound !== undefined) return refused(unsound);
  const webSocket = headers.upgrade !== undefined && mayUpgrade(raw);
  return readResource(
    { method, url, httpVersion, headers, underscored: raw.underscored },
    webSocket,
    context,
  );
}
