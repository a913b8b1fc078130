// The series of a plan at 0, read at scrape: `rate()` ignores a counter's first value, and with it the first call.
import { phasesOf, type VersionState } from '../exchange/version-states.ts';
import type { ApiPlan, GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { CredentialScheme } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { LimitRule } from '../policy/rate-limit/limit.ts';
import { type Carrier, NAMED_CARRIERS } from '../policy/versioning/carriers.ts';
import {
  type AUTH_FAILURES,
  type CARRIERS,
  type DECISIONS,
  NONE,
  OTHER,
  type RESOLUTIONS,
  UPSTREAM_OUTCOMES,
} from './requests/request-labels.ts';
import type { Sample } from './series.ts';

type Labels = readonly string[];

type KnownDecision = (typeof DECISIONS)[number];
type KnownResolution = readonly [(typeof CARRIERS)[number], (typeof RESOLUTIONS)[number]];

/** The samples, then 0 for each known series without a sample. */
export function* withZeros(samples: Iterable<Sample>, known: Iterable<Labels>): Iterable<Sample> {
  const seen = new Set<string>();
  for (const sample of samples) {
    seen.add(sample[0].join('\n'));
    yield sample;
  }
  for (const labels of known) {
    const key = labels.join('\n');
    if (seen.has(key)) continue;
    seen.add(key);
    yield [labels, 0];
  }
}

const METHODS_WITH_FAULTS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const FAULT_CODES = ['500', '502', '503', '504'] as const;

/** api, version, stage, method, code: the statuses of faults. */
export function* knownFailures(versions: Iterable<VersionState>): Iterable<Labels> {
  for (const { rules, stage } of versions) {
    if (stage !== 'active' && stage !== 'deprecated') continue;
    for (const method of METHODS_WITH_FAULTS)
      for (const code of FAULT_CODES) yield [rules.api, rules.label, stage, method, code];
  }
}

/** api, version. */
export function* knownVersions(versions: Iterable<VersionState>): Iterable<Labels> {
  for (const { rules } of versions) yield [rules.api, rules.label];
}

/** api, version, upstream. */
export function* knownUpstreams({ apis }: Pick<GatewayPlan, 'apis'>): Iterable<Labels> {
  for (const { name, versions } of apis)
    for (const { label, upstream } of versions.values())
      if (upstream !== undefined) yield [name, label, upstream.name];
}

/** api, version, upstream, outcome. */
export function* knownUpstreamOutcomes(plan: Pick<GatewayPlan, 'apis'>): Iterable<Labels> {
  for (const labels of knownUpstreams(plan))
    for (const outcome of UPSTREAM_OUTCOMES) yield [...labels, outcome];
}

/** api, version, consumer: the consumers with an exception, and unnamed consumers. */
export function* knownCallers(versions: Iterable<VersionState>): Iterable<Labels> {
  for (const { rules, stage } of versions) {
    if (stage !== 'deprecated') continue;
    yield [rules.api, rules.label, NONE];
    for (const { consumer } of rules.exceptions) yield [rules.api, rules.label, consumer];
  }
}

/** api, version, action: how requests end after a sunset, in a brownout and in a freeze. */
export function* knownRetirements(versions: Iterable<VersionState>): Iterable<Labels> {
  for (const { rules } of versions) {
    for (const { api, label, schedule, brownouts, freeze } of withOperations(rules)) {
      if (brownouts !== undefined) yield [api, label, 'brownout'];
      if (freeze !== undefined) yield [api, label, 'frozen'];
      if (schedule.sunset !== undefined)
        yield [api, label, schedule.after.kind === 'redirect' ? 'redirect' : 'gone'];
    }
  }
}

const ANY_CONSUMER = ['credentials_missing', 'credentials_malformed', 'scope_insufficient'] as const;
const BY_SCHEME = {
  Bearer: ['token_invalid', 'identity_unavailable'],
  ApiKey: ['key_invalid', 'identity_unavailable'],
  ClientCertificate: ['certificate_invalid'],
} as const satisfies Record<CredentialScheme['scheme'], readonly (typeof AUTH_FAILURES)[number][]>;

/** api, reason: for each API that requires credentials, by their scheme. */
export function* knownAuthFailures({ apis }: Pick<GatewayPlan, 'apis'>): Iterable<Labels> {
  for (const { name, access, versions } of apis) {
    const rules = [...versions.values()].flatMap((version) => withOperations(version));
    for (const each of [access, ...rules.map((rule) => rule.access)]) {
      if (each.kind === 'public') continue;
      for (const reason of ANY_CONSUMER) yield [name, reason];
      for (const { scheme } of each.schemes) for (const reason of BY_SCHEME[scheme]) yield [name, reason];
    }
  }
}

function withOperations(rules: VersionRules): readonly VersionRules[] {
  return [rules, ...(rules.operations?.list ?? [])];
}

/** api, version, policy, decision: of each limit under its current name, and of the guard, which has no API. */
export function* knownDecisions(plan: GatewayPlan, now: EpochMs): Iterable<Labels> {
  if (plan.guard !== undefined) yield [NONE, NONE, plan.guard.name, 'limited' satisfies KnownDecision];
  for (const { versions, mode } of plan.apis) {
    for (const version of versions.values()) {
      for (const [{ api, label, limits }, { stage }] of phasesOf(version, now)) {
        if (stage !== 'active' && stage !== 'deprecated') continue;
        for (const rule of limits?.each ?? [])
          for (const decision of decisionsOf(rule, mode)) yield [api, label, rule[stage].name, decision];
      }
    }
  }
}

function decisionsOf({ shadow }: LimitRule, mode: ApiPlan['mode']): readonly KnownDecision[] {
  return ['allowed', shadow || mode === 'observe' ? 'shadow_limited' : 'limited', 'degraded'];
}

/** api, version, operation: of a version with operations, the deprecated operations and `other`. */
export function* knownOperations({ apis }: GatewayPlan, now: EpochMs): Iterable<Labels> {
  for (const { versions } of apis) {
    for (const version of versions.values()) {
      if (version.operations === undefined) continue;
      for (const [{ api, label, operation = OTHER }, { stage }] of phasesOf(version, now))
        if (stage === 'deprecated') yield [api, label, operation];
    }
  }
}

/** api, carrier, outcome: each way to name a version, right or wrong. */
export function* knownResolutions({ apis }: Pick<GatewayPlan, 'apis'>): Iterable<Labels> {
  for (const api of apis) for (const resolved of resolutionsOf(api)) yield [api.name, ...resolved];
}

function* resolutionsOf(api: ApiPlan): Iterable<KnownResolution> {
  // The label of the only version of an unversioned API.
  if (api.versions.has(NONE)) {
    yield ['unversioned', 'matched'];
    return;
  }
  for (const carrier of carriersOf(api)) {
    yield [carrier, 'matched'];
    yield [carrier, 'unknown'];
  }
  if (api.resolution.default === undefined) yield [NONE, 'missing'];
  else yield ['default', 'default'];
  yield [NONE, 'conflict'];
}

/** The carriers that a plan can list. To a plan, a subdomain is a host like any other. */
function* carriersOf({ paths, resolution }: ApiPlan): Iterable<Carrier> {
  if (paths.some((path) => path.includes('{version}'))) yield 'path';
  for (const each of NAMED_CARRIERS) if (resolution[each] !== undefined) yield each;
  if (resolution.mediaTypes.length > 0) yield 'accept';
}
