// The access log: one JSON line per request, written as bytes.
import type { ExchangeOutcome } from '../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import type { AccessLogSettings } from '../../plan/settings.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { Quota } from '../../policy/rate-limit/limit.ts';
import type { RecordRequest } from '../requests/ended-requests.ts';
import { membersOf } from './access-members.ts';
import { summariseError } from './error-summary.ts';
import type { LineBuffer } from './line-buffer.ts';
import type { LogSink } from './log-sink.ts';

const BEFORE_TIME = Buffer.from('{"level":"info","log":"access","time":"');
const BEFORE_TIME_OF_FAILURE = Buffer.from('{"level":"error","log":"access","time":"');
const AFTER_TIME = Buffer.from('Z"');

export interface AccessLog {
  readonly record: RecordRequest;
}

/** Selects fields and requests once, from the settings. `share`: a random number from 0 to 1 for each success. */
export function createAccessLog(
  { line, endLine }: Pick<LogSink, 'line' | 'endLine'>,
  settings: AccessLogSettings,
  share: () => number = Math.random,
): AccessLog {
  const begin = startOf(line, BEFORE_TIME);
  const beginFailure = startOf(line, BEFORE_TIME_OF_FAILURE);
  const write = membersOf(line, settings.fields);
  const isExcluded = successFilter(settings, share);
  return {
    record: (facts, outcome, at, durationMs) => {
      if (isExcluded?.(facts, outcome)) return;
      const { start, decision, completion } = facts;
      const { quotas } = decision;
      const { fault } = completion;
      if (fault === undefined) begin(at);
      else beginFailure(at);
      write.requestId(start.requestId);
      write.traceId(start.trace?.traceId);
      write.method(outcome.method);
      write.host(outcome.host);
      write.path(withoutQuery(outcome.path));
      write.status(outcome.status);
      write.rules(decision);
      write.stage(decision.phase?.stage);
      write.carrier(decision.carrier);
      write.consumer(decision.consumer?.id);
      write.refusal(completion.refusal);
      if (quotas?.some(hasRefused)) {
        write.limitedBy(refusingLimits(quotas, false));
        write.shadowLimitedBy(refusingLimits(quotas, true));
      }
      write.tokenFlaw(completion.tokenFlaw);
      write.keyFlaw(completion.keyFlaw);
      write.observed(decision.observed);
      write.bodyNotice(completion.bodyNotice);
      write.idempotency(completion.idempotency);
      if (fault !== undefined) {
        write.fault(fault.code);
        write.upstream(fault.service);
      }
      write.target(completion.target);
      if (fault !== undefined)
        write.error(fault.cause === undefined ? undefined : summariseError(fault.cause));
      write.duration(durationMs);
      write.upstreamDuration(completion.upstreamMs);
      write.bytes(outcome.bytes);
      write.client(outcome.clientAddress);
      write.connection(outcome);
      write.userAgent(outcome.userAgent);
      endLine();
    },
  };
}

/** Undefined if each request has a line. */
function successFilter(
  { sampled, excluded }: AccessLogSettings,
  share: () => number,
): ((facts: ExchangeFacts, outcome: ExchangeOutcome) => boolean) | undefined {
  if (sampled === 1 && excluded.length === 0) return undefined;
  const paths = new Set(excluded.filter((pattern) => !pattern.endsWith('*')));
  const starts = excluded.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));
  return ({ decision, completion }, { status, path, aborted }) => {
    const isSuccess = completion.refusal === undefined && completion.fault === undefined && status < 400;
    if (!isSuccess || aborted || decision.observed !== undefined) return false;
    return paths.has(path) || starts.some((start) => path.startsWith(start)) || share() >= sampled;
  };
}

/** Writes the start of a line, with the time in ISO 8601 to the millisecond. Caches the bytes of the current second. */
function startOf(line: LineBuffer, before: Buffer): (at: EpochMs) => void {
  let second = Number.NaN;
  let start = before;
  return (at) => {
    const whole = Math.floor(at / 1000);
    if (whole !== second) {
      second = whole;
      const date = new Date(whole * 1000).toISOString().slice(0, -'000Z'.length);
      start = Buffer.concat([before, Buffer.from(date)]);
    }
    line.bytes(start);
    line.integer(Math.floor(at - whole * 1000), 3);
    line.bytes(AFTER_TIME);
  };
}

function hasRefused(quota: Quota): boolean {
  return quota.kind !== 'unavailable' && !quota.allowed;
}

/** Names of the limits that refused, or with `shadow` would have refused. Undefined if there are none. */
function refusingLimits(quotas: readonly Quota[], shadow: boolean): readonly string[] | undefined {
  const met = quotas.filter((quota) => hasRefused(quota) && quota.rule.shadow === shadow);
  return met.length === 0 ? undefined : met.map(({ limit }) => limit.name);
}

/** `ExchangeOutcome.path` never has a query. Checked again here, because a query may hold a secret. */
function withoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}
