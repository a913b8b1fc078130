// Which bound of gateway.yaml a refusal by a listener stands for, for the metrics.
// Asked by request-life.ts for what it refuses itself.
import type { Refusal } from '../../../exchange/directive.ts';
import type { RefusingBound } from '../../../telemetry/bounds-report.ts';

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
