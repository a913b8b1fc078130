// What operators learn of a fault: one log line that says where it happened and why.
// Handed to the exchange by gateway.ts; the client's answer says nothing of the cause.
import type { Fault, FaultCode } from '../exchange/directive.ts';
import type { ExchangeFacts } from '../exchange/facts.ts';
import type { Logger } from './logger.ts';

/**
 * The gateway's own no, to each of a flood of requests: the access log counts them, and the change of the target or of
 * the queue behind it has its own line or metric.
 */
const TOLD_ELSEWHERE: ReadonlySet<FaultCode> = new Set(['upstream_unavailable', 'upstream_busy']);

export function createFaultReport(logger: Logger): (fault: Fault, facts: ExchangeFacts) => void {
  return (fault, facts) => {
    if (TOLD_ELSEWHERE.has(fault.code)) return;
    logger.error('a request failed', {
      request_id: facts.start.requestId,
      api: facts.decision.api?.name,
      version: facts.decision.version?.label,
      upstream: fault.service,
      fault: fault.code,
      error: fault,
    });
  };
}
