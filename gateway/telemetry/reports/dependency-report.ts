// Logs and counts outages of the store, the issuers and the span export, and outcomes of keys that were not stored.
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
      if (up) logger.info('the store is available again', { store });
      else
        logger.warn('the store is unavailable; limits use their fallback, known pins and pauses stay', {
          store,
        });
    },
    onHistorySkipped: (what, { message }) => {
      logger.warn(`the store is unavailable; published schedules are not ${what}`, { reason: message });
    },
    onHistorySuperseded: () => {
      logger.warn('another gateway has recorded newer policies; this gateway does not overwrite them');
    },
    onKeys: (identity, failure) => {
      if (failure === undefined) logger.info('the keys of an issuer can be fetched again', { identity });
      else logger.warn('the keys of an issuer cannot be fetched', { identity, reason: failure });
    },
    onSpans: (failure) => {
      if (failure === undefined) logger.info('spans can be exported again');
      else logger.warn('spans cannot be exported; traces have gaps', { reason: failure });
    },
    onIntrospection: (identity, failure) => {
      if (failure === undefined) logger.info('token introspection works again', { identity });
      else logger.warn('token introspection fails', { identity, reason: failure });
    },
  };
}

/** For idempotency keys. The access log has the faults of requests. */
export function createFaultReport(logger: Logger): (fault: Fault, facts: ExchangeFacts) => void {
  return (fault, facts) => {
    logger.error('the outcome of an idempotency key was not stored', {
      request_id: facts.start.requestId,
      api: facts.decision.api?.name,
      version: facts.decision.version?.label,
      error: fault.cause,
    });
  };
}
