// A sample of every refusal and fault with its statuses. The compiler requires a sample for a new reason.

import type { ErrorDescription } from '../../gateway/exchange/answers/error-body.ts';
import { describeFault } from '../../gateway/exchange/answers/fault.ts';
import { describeRefusal } from '../../gateway/exchange/answers/refusal.ts';
import { Fault, type FaultCode, type Refusal, type RefusalReason } from '../../gateway/exchange/directive.ts';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import { deprecatedFacts, NOW } from './exchange-samples.ts';

type Samples = { readonly [Reason in RefusalReason]: readonly Extract<Refusal, { reason: Reason }>[] };

const known = ['v2', 'v1'];
const path = { carrier: 'path', value: 'v9' } as const;
const header = { carrier: 'header', value: 'v9' } as const;
const carriers = [
  path,
  header,
  { carrier: 'accept', value: 'v9' } as const,
  { carrier: 'content_type', value: 'v9' } as const,
];
const retired = {
  label: 'v0',
  operation: undefined,
  stage: 'retired',
  since: NOW,
  guide: undefined,
} as const;
const limit = { name: 'default', units: 60, windowMs: 60_000, burst: 60 };

const MALFORMED = [400, 408, 413, 414, 417, 431] as const;

const SAMPLES: Samples = {
  request_malformed: MALFORMED.map((status) => ({ reason: 'request_malformed', status, message: '' })),
  plain_http: [{ reason: 'plain_http' }],
  plain_http_moved: ([301, 308] as const).map((status) => ({
    reason: 'plain_http_moved',
    status,
    location: 'https://api.example.com/',
  })),
  method_unknown: [{ reason: 'method_unknown', method: 'BREW' }],
  transfer_coding_unknown: [{ reason: 'transfer_coding_unknown' }],
  protocol_version_unsupported: [{ reason: 'protocol_version_unsupported' }],
  websocket_version_unsupported: [{ reason: 'websocket_version_unsupported' }],
  host_unknown: [{ reason: 'host_unknown' }],
  misdirected: [{ reason: 'misdirected' }],
  route_unknown: [{ reason: 'route_unknown' }],
  method_not_allowed: [{ reason: 'method_not_allowed', allowed: 'GET, HEAD' }],
  credentials_in_url: [{ reason: 'credentials_in_url', parameter: 'access_token' }],
  method_overridden: [{ reason: 'method_overridden', field: 'X-HTTP-Method', method: 'POST' }],
  body_too_large: [{ reason: 'body_too_large', most: 1_024 }],
  overloaded: [{ reason: 'overloaded', retryAfterSeconds: 2, restoredAt: NOW }],
  usage_unavailable: [{ reason: 'usage_unavailable', retryAfterSeconds: 1, restoredAt: NOW }],
  api_left_out: [{ reason: 'api_left_out', retryAfterSeconds: 60, restoredAt: NOW }],
  websockets_exhausted: [{ reason: 'websockets_exhausted' }],
  origin_not_allowed: [{ reason: 'origin_not_allowed' }],
  version_ambiguous: [{ reason: 'version_ambiguous', claims: [path, header] }],
  version_malformed: carriers.map((claim) => ({ reason: 'version_malformed', claim, known })),
  version_unknown: carriers.map((claim) => ({ reason: 'version_unknown', claim, known })),
  version_missing: [{ reason: 'version_missing', known }],
  version_unacceptable: [{ reason: 'version_unacceptable', known }],
  pins_unavailable: [{ reason: 'pins_unavailable', retryAfterSeconds: 1, restoredAt: NOW }],
  version_retired: [
    {
      reason: 'version_retired',
      ...retired,
      replacement: undefined,
      successor: undefined,
      because: undefined,
    },
    {
      reason: 'version_retired',
      ...retired,
      replacement: 'https://api.example.com/api/v2/orders',
      successor: undefined,
      because: 'money amounts become integers',
      guide: 'https://docs.example.com/orders/v2',
    },
  ],
  version_moved: ([301, 308] as const).map((status) => ({
    reason: 'version_moved',
    status,
    ...retired,
    location: 'https://api.example.com/api/v2/orders',
  })),
  brownout: ([410, 503] as const).map((status) => ({
    reason: 'brownout',
    status,
    label: 'v1',
    operation: undefined,
    until: NOW + 60_000,
    retryAfterSeconds: 60,
    sunset: undefined,
    message: undefined,
    replacement: undefined,
    successor: undefined,
    guide: undefined,
  })),
  adoption_frozen: [
    {
      reason: 'adoption_frozen',
      ...retired,
      replacement: undefined,
      successor: undefined,
    },
  ],
  maintenance: [{ reason: 'maintenance', retryAfterSeconds: 1, restoredAt: NOW }],
  credentials_missing: [{ reason: 'credentials_missing' }],
  credentials_malformed: [{ reason: 'credentials_malformed', field: 'Authorization' }],
  token_invalid: [{ reason: 'token_invalid', description: 'The access token has expired' }],
  key_invalid: [{ reason: 'key_invalid', flaw: 'unknown' }],
  certificate_invalid: [{ reason: 'certificate_invalid' }],
  scope_insufficient: [{ reason: 'scope_insufficient', required: ['orders:read'], via: 'token' }],
  operation_not_granted: [{ reason: 'operation_not_granted' }],
  rate_limited: [{ reason: 'rate_limited', retryAfterSeconds: 1, violated: [{ limit, by: 'consumer' }] }],
  guard_limited: [{ reason: 'guard_limited', retryAfterSeconds: 1 }],
  tokens_limited: [{ reason: 'tokens_limited', retryAfterSeconds: 1 }],
  limits_unavailable: [{ reason: 'limits_unavailable', retryAfterSeconds: 1, restoredAt: NOW }],
  precondition_failed: [{ reason: 'precondition_failed' }],
  idempotency_key_missing: [{ reason: 'idempotency_key_missing', keepMs: 86_400_000 }],
  idempotency_key_malformed: [{ reason: 'idempotency_key_malformed' }],
  idempotency_key_anonymous: [{ reason: 'idempotency_key_anonymous' }],
  idempotency_conflict: [{ reason: 'idempotency_conflict' }],
  idempotency_unknown: [{ reason: 'idempotency_unknown' }],
  idempotency_mismatch: [{ reason: 'idempotency_mismatch' }],
  idempotency_unavailable: [{ reason: 'idempotency_unavailable', retryAfterSeconds: 1, restoredAt: NOW }],
};

const FAULTS: Readonly<Record<FaultCode, Fault>> = {
  upstream_refused: new Fault('upstream_refused'),
  upstream_dns: new Fault('upstream_dns'),
  upstream_reset: new Fault('upstream_reset'),
  upstream_invalid: new Fault('upstream_invalid'),
  upstream_tls: new Fault('upstream_tls'),
  upstream_loop: new Fault('upstream_loop'),
  upstream_busy: new Fault('upstream_busy', { service: 'orders-v1' }),
  upstream_connect_timeout: new Fault('upstream_connect_timeout'),
  upstream_headers_timeout: new Fault('upstream_headers_timeout'),
  upstream_idle_timeout: new Fault('upstream_idle_timeout'),
  upstream_total_timeout: new Fault('upstream_total_timeout'),
  upstream_unavailable: new Fault('upstream_unavailable', { retryAfterSeconds: 3 }),
  identity_unavailable: new Fault('identity_unavailable'),
  internal: new Fault('internal'),
};

export function answersOfRefusals(): ReadonlyMap<RefusalReason, readonly ErrorDescription[]> {
  const { start, decision } = deprecatedFacts();
  const facts = { ...decision, plan: start.plan };
  const glimpse = { scheme: 'https', headers: new RecordFields() } as const;
  return new Map(
    (Object.keys(SAMPLES) as RefusalReason[]).map((reason) => [
      reason,
      SAMPLES[reason].map((refusal) => describeRefusal(refusal, facts, glimpse)),
    ]),
  );
}

export function statusesOfRefusals(): ReadonlyMap<string, ReadonlySet<number>> {
  return new Map(
    Array.from(answersOfRefusals(), ([reason, answers]) => [
      reason,
      new Set(answers.map(({ status }) => status)),
    ]),
  );
}

export function answersOfFaults(): ReadonlyMap<FaultCode, ErrorDescription> {
  return new Map(
    (Object.keys(FAULTS) as FaultCode[]).map((code) => [code, describeFault(FAULTS[code], 'id', NOW)]),
  );
}

export function statusesOfFaults(): ReadonlySet<number> {
  return new Set(Array.from(answersOfFaults().values(), ({ status }) => status));
}
