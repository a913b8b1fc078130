// State of the store and of the issuers' keys, and outcomes of idempotency keys that were not kept.
import type { Fault } from '../../exchange/directive.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import type { Logger } from '../logs/logger.ts';
import type { Telemetry } from '../telemetry.ts';

export interface DependencyReport {
  /** `store`: the kind, not an address. */
  readonly onStore: (store: string, up: boolean) => void;
  /** `what`: what the unavailable store prevented. */
  readonly onHistorySkipped: (what: 'compared' | 'recorded', reason: Error) => void;
  readonly onHistorySuperseded: () => void;
  /** Here and below, `failure` is undefined once the dependency works again. */
  readonly onKeys: (identity: string, failure: string | undefined) => void;
  readonly onSpans: (failure: string | undefined) => void;
  readonly onIntrospection: (identity: string, failure: string | undefined) => void;
}

export function createDependencyReport({
  logger,
  metrics,
}: Pick<Telemetry, 'logger' | 'metrics'>): DependencyReport {
  return {
    onStore: (store, up) => {
      metrics.storeUp(store, up);
      if (up) logger.info('the store answers', { store });
      else
        logger.warn('the store is away; limits fall back, and what is known of pins and pauses stays', {
          store,
        });
    },
    onHistorySkipped: (what, { message }) => {
      logger.warn(`the store is away; published schedules are not ${what}`, { reason: message });
    },
    onHistorySuperseded: () => {
      logger.warn('another gateway recorded later policies; its record stays');
    },
    onKeys: (identity, failure) => {
      if (failure === undefined) logger.info('the keys of an issuer are fetched again', { identity });
      else logger.warn('the keys of an issuer cannot be fetched', { identity, reason: failure });
    },
    onSpans: (failure) => {
      if (failure === undefined) logger.info('spans are exported again');
      else logger.warn('spans cannot be exported, so that traces have gaps', { reason: failure });
    },
    onIntrospection: (identity, failure) => {
      if (failure === undefined) logger.info('an issuer says again which tokens are active', { identity });
      else logger.warn('an issuer does not say which tokens are active', { identity, reason: failure });
    },
  };
}

/** For idempotency keys. The access log has the faults of requests. */
export function createFaultReport(logger: Logger): (fault: Fault, facts: ExchangeFacts) => void {
  return (fault, facts) => {
    logger.error('the outcome of an idempotency key was not kept', {
      request_id: facts.start.requestId,
      api: facts.decision.api?.name,
      version: facts.decision.version?.label,
      error: fault.cause,
    });
  };
}
