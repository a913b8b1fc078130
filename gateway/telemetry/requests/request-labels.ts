// The closed sets of labels for a request, and what a refusal or a fault means for the metrics.
import { STATUS_CODES } from 'node:http';
import type { FaultCode, RefusalReason } from '../../exchange/directive.ts';
import type { Stage } from '../../policy/lifecycle/schedule.ts';
import { CARRIER_KEYS, type Carrier } from '../../policy/versioning/carriers.ts';

/** For a request without an API, version, stage or named consumer. */
export const NONE = 'none';
/** For values without a series of their own. */
export const OTHER = 'other';

export const STAGES = [
  'planned',
  'active',
  'deprecated',
  'sunset',
  'retired',
  NONE,
] as const satisfies readonly (Stage | typeof NONE)[];

export const METHOD_LABELS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
  OTHER,
] as const;

/** The registered codes, and one label per class for other codes of an upstream. */
export const CODES: readonly string[] = [
  ...Object.keys(STATUS_CODES),
  '1xx',
  '2xx',
  '3xx',
  '4xx',
  '5xx',
  OTHER,
];

export const CARRIERS: readonly (Carrier | typeof NONE)[] = [...CARRIER_KEYS, NONE];
export const RESOLUTIONS = [
  'matched',
  'default',
  'conflict',
  'unknown',
  'malformed',
  'missing',
  'unavailable',
  'unacceptable',
] as const;
export const RETIREMENTS = ['gone', 'redirect', 'brownout', 'frozen'] as const;
export const DECISIONS = ['allowed', 'limited', 'shadow_limited', 'degraded'] as const;
export const AUTH_FAILURES = [
  'credentials_missing',
  'credentials_malformed',
  'token_invalid',
  'tokens_limited',
  'key_invalid',
  'certificate_invalid',
  'scope_insufficient',
  'operation_not_granted',
  'identity_unavailable',
] as const;

type ResolutionLabel = (typeof RESOLUTIONS)[number];
type RetirementLabel = (typeof RETIREMENTS)[number];
type AuthFailure = (typeof AUTH_FAILURES)[number];

/** The second counter that a refusal increments. Undefined: only the request counter. */
export const REFUSALS: Readonly<
  Partial<
    Record<
      RefusalReason,
      | { readonly kind: 'resolution'; readonly outcome: ResolutionLabel }
      | { readonly kind: 'retired'; readonly action: RetirementLabel }
      | { readonly kind: 'auth'; readonly failure: AuthFailure }
      | { readonly kind: 'guard' }
    >
  >
> = {
  version_ambiguous: { kind: 'resolution', outcome: 'conflict' },
  version_malformed: { kind: 'resolution', outcome: 'malformed' },
  version_unknown: { kind: 'resolution', outcome: 'unknown' },
  version_missing: { kind: 'resolution', outcome: 'missing' },
  version_unacceptable: { kind: 'resolution', outcome: 'unacceptable' },
  pins_unavailable: { kind: 'resolution', outcome: 'unavailable' },
  version_retired: { kind: 'retired', action: 'gone' },
  version_moved: { kind: 'retired', action: 'redirect' },
  brownout: { kind: 'retired', action: 'brownout' },
  adoption_frozen: { kind: 'retired', action: 'frozen' },
  credentials_missing: { kind: 'auth', failure: 'credentials_missing' },
  credentials_malformed: { kind: 'auth', failure: 'credentials_malformed' },
  token_invalid: { kind: 'auth', failure: 'token_invalid' },
  key_invalid: { kind: 'auth', failure: 'key_invalid' },
  certificate_invalid: { kind: 'auth', failure: 'certificate_invalid' },
  scope_insufficient: { kind: 'auth', failure: 'scope_insufficient' },
  operation_not_granted: { kind: 'auth', failure: 'operation_not_granted' },
  guard_limited: { kind: 'guard' },
  tokens_limited: { kind: 'auth', failure: 'tokens_limited' },
};

export const FAULT_AUTH_FAILURES: Readonly<Partial<Record<FaultCode, AuthFailure>>> = {
  identity_unavailable: 'identity_unavailable',
};

/** The upstream outcome of a fault. Undefined if the fault is not the upstream's. */
export const FAULT_OUTCOMES = {
  upstream_refused: 'refused',
  upstream_dns: 'dns',
  upstream_reset: 'reset',
  upstream_invalid: 'invalid',
  upstream_tls: 'tls',
  upstream_loop: 'loop',
  upstream_busy: 'busy',
  upstream_connect_timeout: 'connect_timeout',
  upstream_headers_timeout: 'headers_timeout',
  upstream_idle_timeout: 'idle_timeout',
  upstream_total_timeout: 'total_timeout',
  upstream_unavailable: 'unavailable',
  identity_unavailable: undefined,
  internal: undefined,
} as const satisfies Readonly<Record<FaultCode, string | undefined>>;

export const UPSTREAM_OUTCOMES: readonly string[] = [
  'answered',
  'answered_5xx',
  'client_left',
  ...Object.values(FAULT_OUTCOMES).filter((outcome) => outcome !== undefined),
];
export const ANSWERED = 0;
export const ANSWERED_5XX = 1;
export const CLIENT_DISCONNECTED = 2;

const FAULT_INDEX: ReadonlyMap<string, number> = new Map(
  Object.entries(FAULT_OUTCOMES).flatMap(([fault, outcome]) =>
    outcome === undefined ? [] : [[fault, UPSTREAM_OUTCOMES.indexOf(outcome)] as const],
  ),
);

export function faultIndexOf(fault: FaultCode): number | undefined {
  return FAULT_INDEX.get(fault);
}

const METHOD_INDEX: ReadonlyMap<string, number> = new Map(
  METHOD_LABELS.map((method, index) => [method, index]),
);
const CODE_INDEX: Uint8Array = codeIndex();

export function methodIndexOf(method: string): number {
  return METHOD_INDEX.get(method) ?? METHOD_LABELS.length - 1;
}

export function codeIndexOf(status: number): number {
  return CODE_INDEX[status] ?? CODES.length - 1;
}

function codeIndex(): Uint8Array {
  const index = new Uint8Array(600).fill(CODES.length - 1);
  for (let status = 100; status < 600; status += 1) {
    const own = CODES.indexOf(String(status));
    index[status] = own === -1 ? CODES.indexOf(`${Math.floor(status / 100)}xx`) : own;
  }
  return index;
}
