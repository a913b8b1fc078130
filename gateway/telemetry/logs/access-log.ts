// The access log: one JSON line per request, written as bytes.
import type { EpochMs } from '../../policy/contract.ts';
import type { Quota } from '../../policy/rate-limit/limit.ts';
import type { RecordRequest } from '../requests/ended-requests.ts';
import { summariseError } from './error-summary.ts';
import { asciiJson, jsonString, type LineBuffer } from './line-buffer.ts';
import type { LogSink } from './log-sink.ts';

const NAME_CAP = 128;
const HOST_CAP = 255;
const PATH_CAP = 2048;
const USER_AGENT_CAP = 256;
/** Values of one member whose JSON is kept; later ones are written anew each time. */
const MOST_KEPT = 512;

const BEFORE_TIME = Buffer.from('{"level":"info","log":"access","time":"');
const BEFORE_TIME_OF_FAILURE = Buffer.from('{"level":"error","log":"access","time":"');
const AFTER_TIME = Buffer.from('Z"');
const ABORTED = Buffer.from(',"aborted":true');
const COMPLETE = Buffer.from(',"aborted":false');

export interface AccessLog {
  readonly record: RecordRequest;
}

export function createAccessLog({ line, endLine }: Pick<LogSink, 'line' | 'endLine'>): AccessLog {
  const begin = startOf(line, BEFORE_TIME);
  const beginFailure = startOf(line, BEFORE_TIME_OF_FAILURE);
  const write = membersOf(line);
  return {
    record: ({ start, decision, completion }, outcome, at, durationMs) => {
      const { api, version, quotas } = decision;
      const { fault } = completion;
      if (fault === undefined) begin(at);
      else beginFailure(at);
      write.requestId(start.requestId);
      write.traceId(start.trace?.traceId);
      write.method(outcome.method);
      write.host(outcome.host);
      write.path(withoutQuery(outcome.path));
      write.status(outcome.status);
      write.api(api?.name);
      write.version(version?.label);
      write.operation(version?.operation);
      write.stage(decision.phase?.stage);
      write.carrier(decision.carrier);
      write.consumer(decision.consumer?.id);
      write.refusal(completion.refusal);
      if (quotas?.some(hasRefused) === true) line.text(limitsMet(quotas.filter(hasRefused)));
      write.tokenFlaw(completion.tokenFlaw);
      write.keyFlaw(completion.keyFlaw);
      write.observed(decision.observed);
      write.bodyNotice(completion.bodyNotice);
      write.idempotency(completion.idempotency);
      write.fault(fault?.code);
      write.upstream(fault?.service);
      write.target(completion.target);
      write.error(fault?.cause);
      write.duration(durationMs);
      write.upstreamDuration(completion.upstreamMs);
      write.bytes(outcome.bytes);
      write.client(outcome.clientAddress);
      write.scheme(outcome.scheme);
      write.protocol(outcome.protocol);
      line.bytes(outcome.aborted ? ABORTED : COMPLETE);
      write.userAgent(outcome.userAgent);
      endLine();
    },
  };
}

/** What writes each member, and nothing where it has no value. */
function membersOf(line: LineBuffer) {
  const member = <Value>(name: string, write: (value: Value) => void): ((value?: Value) => void) => {
    const key = Buffer.from(`,"${name}":`);
    return (value) => {
      if (value === undefined) return;
      line.bytes(key);
      write(value);
    };
  };
  const text = (name: string, cap = NAME_CAP) => member(name, (value: string) => line.string(value, cap));
  /** For closed sets, and for names of which there are few. */
  const repeated = (name: string): ((value?: string) => void) => {
    const kept = new Map<string, Buffer>();
    return (value) => {
      if (value === undefined) return;
      const known = kept.get(value);
      const json = known ?? Buffer.from(`,"${name}":${jsonString(value, NAME_CAP)}`);
      if (known === undefined && kept.size < MOST_KEPT && value.length <= NAME_CAP) kept.set(value, json);
      line.bytes(json);
    };
  };
  return {
    requestId: text('request_id'),
    traceId: text('trace_id'),
    method: repeated('method'),
    host: text('host', HOST_CAP),
    path: text('path', PATH_CAP),
    status: member('status', line.integer),
    api: repeated('api'),
    version: repeated('version'),
    operation: repeated('operation'),
    stage: repeated('stage'),
    carrier: repeated('carrier'),
    consumer: text('consumer'),
    refusal: repeated('refusal'),
    tokenFlaw: repeated('token_flaw'),
    keyFlaw: repeated('key_flaw'),
    observed: repeated('would_refuse'),
    bodyNotice: repeated('body_notice'),
    idempotency: repeated('idempotency'),
    fault: repeated('fault'),
    upstream: repeated('upstream'),
    target: repeated('target'),
    error: member('error', (cause: unknown) => line.text(asciiJson(JSON.stringify(summariseError(cause))))),
    duration: member('duration_ms', line.duration),
    upstreamDuration: member('upstream_ms', line.duration),
    bytes: member('bytes', line.integer),
    client: text('client'),
    scheme: repeated('scheme'),
    protocol: repeated('protocol'),
    userAgent: text('user_agent', USER_AGENT_CAP),
  };
}

/** What begins a line: ISO 8601 with milliseconds. The bytes of the running second are kept, since most lines share it. */
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

/** Names of the limits that refused, and of those that would have if they were not in shadow. */
function limitsMet(met: readonly Quota[]): string {
  const named = (member: string, shadow: boolean): string => {
    const names = met.filter(({ rule }) => rule.shadow === shadow).map(({ limit }) => limit.name);
    return names.length === 0 ? '' : `,"${member}":${JSON.stringify(names)}`;
  };
  return named('limited_by', false) + named('shadow_limited_by', true);
}

/** `Outcome.path` has no query by contract; checked here as well, since a query may hold a secret. */
function withoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}
