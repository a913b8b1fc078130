// What operators learn of a fault: one log line that says where it happened and why.
// Handed to the exchange by gateway.ts; the client's answer says nothing of the cause.
import type { Fault } from '../exchange/directive.ts';
import type { ExchangeFacts } from '../exchange/facts.ts';
import type { Logger } from './logger.ts';

export function createFaultReport(logger: Logger): (fault: Fault, facts: ExchangeFacts) => void {
  return (fault, facts) =>
    logger.error('a request failed', {
      request_id: facts.requestId,
      api: facts.api?.name,
      version: facts.version?.label,
      upstream: fault.service,
      fault: fault.code,
      error: fault,
    });
}
