// The access log: one JSON line per request, formatted by hand because it is written on every one.
// Never holds a query string, a header other than the user agent, or anything of a body.
import type { Outcome } from '../exchange/exchange.ts';
import type { Decision, ExchangeFacts } from '../exchange/facts.ts';
import type { EpochMs } from '../policy/contract.ts';
import { jsonString } from './json-text.ts';
import type { LogSink } from './log-sink.ts';

const NAME_CAP = 128;
const PATH_CAP = 2048;
const USER_AGENT_CAP = 256;

export interface AccessLog {
  /** `at`: the instant the answer ended. `durationMs`: from the request's first line to there. */
  readonly record: (facts: ExchangeFacts, outcome: Outcome, at: EpochMs, durationMs: number) => void;
}

export function createAccessLog(sink: LogSink): AccessLog {
  const timeOf = createTimeText();
  return {
    record: (facts, outcome, at, durationMs) => {
      let line = `{"level":"info","log":"access","time":"${timeOf(at)}"`;
      line += `,"request_id":${jsonString(facts.start.requestId, NAME_CAP)}`;
      if (facts.start.trace !== undefined) line += `,"trace_id":"${facts.start.trace.traceId}"`;
      line += `,"method":${jsonString(outcome.method, NAME_CAP)}`;
      line += `,"path":${jsonString(withoutQuery(outcome.path), PATH_CAP)}`;
      line += `,"status":${outcome.status}`;
      if (facts.decision.api !== undefined) line += `,"api":${jsonString(facts.decision.api.name, NAME_CAP)}`;
      if (facts.decision.version !== undefined)
        line += `,"version":${jsonString(facts.decision.version.label, NAME_CAP)}`;
      if (facts.decision.version?.operation !== undefined)
        line += `,"operation":${jsonString(facts.decision.version.operation, NAME_CAP)}`;
      if (facts.decision.phase !== undefined) line += `,"stage":"${facts.decision.phase.stage}"`;
      if (facts.decision.carrier !== undefined) line += `,"carrier":"${facts.decision.carrier}"`;
      if (facts.decision.consumer !== undefined)
        line += `,"consumer":${jsonString(facts.decision.consumer.id, NAME_CAP)}`;
      if (facts.completion.refusal !== undefined) line += `,"refusal":"${facts.completion.refusal}"`;
      if (facts.decision.quotas !== undefined) line += limitsMet(facts.decision.quotas);
      if (facts.completion.tokenFlaw !== undefined) line += `,"token_flaw":"${facts.completion.tokenFlaw}"`;
      if (facts.completion.keyFlaw !== undefined) line += `,"key_flaw":"${facts.completion.keyFlaw}"`;
      if (facts.decision.observed !== undefined) line += `,"would_refuse":"${facts.decision.observed}"`;
      if (facts.completion.bodyNotice !== undefined)
        line += `,"body_notice":"${facts.completion.bodyNotice}"`;
      if (facts.completion.idempotency !== undefined)
        line += `,"idempotency":"${facts.completion.idempotency}"`;
      if (facts.completion.fault !== undefined) line += `,"fault":"${facts.completion.fault}"`;
      line += `,"duration_ms":${microseconds(durationMs)}`;
      if (facts.completion.upstreamMs !== undefined)
        line += `,"upstream_ms":${microseconds(facts.completion.upstreamMs)}`;
      line += `,"bytes":${outcome.bytes}`;
      line += `,"client":${jsonString(outcome.clientAddress, NAME_CAP)}`;
      line += `,"scheme":"${outcome.scheme}"`;
      line += `,"protocol":${jsonString(outcome.protocol, NAME_CAP)}`;
      line += `,"aborted":${outcome.aborted}`;
      if (outcome.userAgent !== undefined)
        line += `,"user_agent":${jsonString(outcome.userAgent, USER_AGENT_CAP)}`;
      sink.append(`${line}}`);
    },
  };
}

/** Names of the limits that refused, and of those that would have if they were not in shadow; nothing as a rule. */
function limitsMet(quotas: NonNullable<Decision['quotas']>): string {
  if (quotas.every((quota) => quota.kind !== 'unavailable' && quota.allowed)) return '';
  const met = quotas.filter((quota) => quota.kind !== 'unavailable' && !quota.allowed);
  const names = (shadow: boolean) =>
    met.filter(({ rule }) => rule.shadow === shadow).map(({ limit }) => limit.name);
  const [refused, shadowed] = [names(false), names(true)];
  return (
    (refused.length === 0 ? '' : `,"limited_by":${JSON.stringify(refused)}`) +
    (shadowed.length === 0 ? '' : `,"shadow_limited_by":${JSON.stringify(shadowed)}`)
  );
}

/** `Outcome.path` has no query by contract; checked here as well, since a query may hold a secret. */
function withoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}

function microseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** ISO 8601 with milliseconds; the text of the running second is kept, since most lines share it. */
function createTimeText(): (at: EpochMs) => string {
  let second = Number.NaN;
  let text = '';
  return (at) => {
    const whole = Math.floor(at / 1000);
    if (whole !== second) {
      second = whole;
      text = new Date(whole * 1000).toISOString().slice(0, -'000Z'.length);
    }
    return `${text}${String(Math.floor(at - whole * 1000)).padStart(3, '0')}Z`;
  };
}
