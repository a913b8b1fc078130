// Whether a request is refused before anything is judged: by this listener's mode, for load, or because it cannot be read.
// And which bound of gateway.yaml a refusal by a listener stands for, for the metrics.
import type { Refusal } from '../../../exchange/directive.ts';
import { plainRefusal } from '../../../exchange/plain-http.ts';
import type { RefusingBound, ShedReason } from '../../../plan/bounds.ts';
import type { OpenRequest, RequestPorts } from './open-request.ts';
import type { Reading } from './request-view.ts';

export function refusalAtOnce(
  { client, facts }: OpenRequest,
  reading: Reading,
  shed: ShedReason | undefined,
  { scheme, mode, intake }: Pick<RequestPorts, 'scheme' | 'mode' | 'intake'>,
): Refusal | undefined {
  // TLS-5: what is served in the clear is for this machine and the proxies in front of it.
  if (mode !== 'serve' || (scheme === 'http' && !client.isNear)) {
    const effective = mode === 'serve' ? 'reject' : mode;
    return plainRefusal(effective, reading.kind === 'view' ? reading.view : undefined, facts.start.plan);
  }
  if (shed !== undefined) {
    intake.report.shed(shed);
    return intake.overloaded();
  }
  return reading.kind === 'refused' ? reading.refusal : undefined;
}

/** `fields`: how many the request had more than it may; undefined where its head was not read to the end. */
export function refusedBound(refusal: Refusal, tooManyFields: boolean): RefusingBound | undefined {
  if (refusal.reason !== 'request_malformed') return undefined;
  switch (refusal.status) {
    case 408:
      return 'headers';
    case 414:
      return 'target_bytes';
    case 431:
      return tooManyFields ? 'header_fields' : 'header_bytes';
    default:
      return undefined;
  }
}
