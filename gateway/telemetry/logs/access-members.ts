// Writes the members of an access line as bytes.
import type { ExchangeOutcome } from '../../exchange/exchange.ts';
import type { Decision } from '../../exchange/facts.ts';
import type { AccessField } from '../../plan/grammar/logs-section.ts';
import type { VersionRules } from '../../plan/plan.ts';
import type { AccessLogSettings } from '../../plan/settings.ts';
import { asciiJson, jsonString, type LineBuffer } from './line-buffer.ts';

const NAME_CAP = 128;
const HOST_CAP = 255;
const PATH_CAP = 2048;
const USER_AGENT_CAP = 256;
/** Cached values per member. Later values are serialised each time. */
const MAX_CACHED = 512;
const LONGEST_KEPT = 1024;

/** One writer per member. It writes nothing without a value, or if the settings do not select the member. */
export function membersOf(line: LineBuffer, fields: AccessLogSettings['fields']) {
  const isChosen = (name: AccessField): boolean => fields === 'all' || fields.includes(name);
  const member = <Value>(name: AccessField, write: (value: Value) => void): ((value?: Value) => void) => {
    if (!isChosen(name)) return () => undefined;
    const key = Buffer.from(`,"${name}":`);
    return (value) => {
      if (value === undefined) return;
      line.bytes(key);
      write(value);
    };
  };
  const text = (name: AccessField, cap = NAME_CAP) =>
    member(name, (value: string) => line.string(value, cap));
  const part = (name: AccessField, value?: string | number | boolean): string =>
    isChosen(name) && value !== undefined
      ? `,"${name}":${typeof value === 'string' ? jsonString(value, NAME_CAP) : value}`
      : '';
  /** For values that repeat: closed sets and a few names. */
  const repeated = (name: AccessField): ((value?: string | number) => void) => {
    if (!isChosen(name)) return () => undefined;
    const kept = new Map<string | number, Buffer>();
    return (value) => {
      if (value === undefined) return;
      const known = kept.get(value);
      const written = known ?? Buffer.from(part(name, value));
      if (known === undefined && kept.size < MAX_CACHED && written.length <= LONGEST_KEPT)
        kept.set(value, written);
      line.bytes(written);
    };
  };
  const json = (name: AccessField) =>
    member(name, (value: unknown) => line.text(asciiJson(JSON.stringify(value))));
  const writeApi = repeated('api');
  /** API, version and operation, cached together by the rules. */
  const rules = (): ((decision: Decision) => void) => {
    const kept = new WeakMap<VersionRules, { readonly of: Decision['api']; readonly members: Buffer }>();
    return ({ api, version }) => {
      if (version === undefined) {
        writeApi(api?.name);
        return;
      }
      let known = kept.get(version);
      if (known === undefined || known.of !== api) {
        const members =
          part('api', api?.name) + part('version', version.label) + part('operation', version.operation);
        known = { of: api, members: Buffer.from(members) };
        kept.set(version, known);
      }
      line.bytes(known.members);
    };
  };
  /** Scheme, protocol and `aborted`, which have few combinations. */
  const connection = (): ((outcome: ExchangeOutcome) => void) => {
    const kept = new Map<string, readonly Buffer[]>();
    const made = (protocol: string): readonly Buffer[] =>
      [false, true].flatMap((aborted) =>
        ['https', 'http'].map((scheme) =>
          Buffer.from(part('scheme', scheme) + part('protocol', protocol) + part('aborted', aborted)),
        ),
      );
    return ({ scheme, protocol, aborted }) => {
      const known = kept.get(protocol);
      const four = known ?? made(protocol);
      if (known === undefined && kept.size < MAX_CACHED && protocol.length <= NAME_CAP)
        kept.set(protocol, four);
      const members = four[(aborted ? 2 : 0) + (scheme === 'https' ? 0 : 1)];
      if (members !== undefined) line.bytes(members);
    };
  };
  return {
    requestId: text('request_id'),
    traceId: text('trace_id'),
    method: repeated('method'),
    host: text('host', HOST_CAP),
    path: text('path', PATH_CAP),
    status: repeated('status'),
    rules: rules(),
    stage: repeated('stage'),
    carrier: repeated('carrier'),
    consumer: text('consumer'),
    refusal: repeated('refusal'),
    limitedBy: json('limited_by'),
    shadowLimitedBy: json('shadow_limited_by'),
    tokenFlaw: repeated('token_flaw'),
    keyFlaw: repeated('key_flaw'),
    observed: repeated('would_refuse'),
    bodyNotice: repeated('body_notice'),
    idempotency: repeated('idempotency'),
    fault: repeated('fault'),
    upstream: repeated('upstream'),
    target: repeated('target'),
    error: json('error'),
    duration: member('duration_ms', line.duration),
    upstreamDuration: member('upstream_ms', line.duration),
    bytes: member('bytes', line.integer),
    client: text('client'),
    connection: connection(),
    userAgent: text('user_agent', USER_AGENT_CAP),
  };
}
