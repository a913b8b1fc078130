// The refusal of requests for an API that is left out.
// Its file is refused, and no accepted form stands in.
import type { ApiPlan } from '../plan/plan.ts';
import type { RequestRefusal } from './directive.ts';
import type { ExchangePorts } from './ports.ts';

/** When the file is corrected is not known. */
const RETRY_SECONDS = 60;

export function refuseLeftOut(
  { isLeftOut }: ApiPlan,
  { wallClock }: Pick<ExchangePorts, 'wallClock'>,
): RequestRefusal | undefined {
  if (isLeftOut !== true) return undefined;
  const restoredAt = wallClock() + RETRY_SECONDS * 1000;
  return { reason: 'api_left_out', retryAfterSeconds: RETRY_SECONDS, restoredAt };
}
