// The series that a plan makes possible, at 0 until something is counted: `rate()` does not see a counter's first value, so
// that one which begins at 1 hides the call that an alert is for. Made at scrape, from the plan in force.
import type { Standing } from '../exchange/standing.ts';
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { CredentialScheme } from '../policy/authentication/access.ts';
import { type AUTH_FAILURES, NONE } from './request-labels.ts';
import type { Sample } from './series.ts';

export type Labels = readonly string[];

/** The samples, then each known series that is not among them, at 0. */
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

/** api, version, consumer: the consumers that the policy names, and those without a name. */
export function* knownCallers(versions: Iterable<Standing>): Iterable<Labels> {
  for (const { rules, stage } of versions) {
    if (stage !== 'deprecated') continue;
    yield [rules.api, rules.label, NONE];
    for (const { consumer } of rules.exceptions) yield [rules.api, rules.label, consumer];
  }
}

/** api, version, action: what becomes of a request once its version or operation has ended, meanwhile, and in a freeze. */
export function* knownRetirements(versions: Iterable<Standing>): Iterable<Labels> {
  for (const { rules } of versions) {
    for (const { api, label, schedule, brownouts, freeze } of withOperations(rules)) {
      if (brownouts !== undefined) yield [api, label, 'brownout'];
      if (freeze !== undefined) yield [api, label, 'frozen'];
      if (schedule.sunset !== undefined)
        yield [api, label, schedule.after.kind === 'redirect' ? 'redirect' : 'gone'];
    }
  }
}

const WHOEVER = ['credentials_missing', 'credentials_malformed', 'scope_insufficient'] as const;
const BY_SCHEME = {
  Bearer: ['token_invalid', 'identity_unavailable'],
  ApiKey: ['key_invalid', 'identity_unavailable'],
  ClientCertificate: ['certificate_invalid'],
} as const satisfies Record<CredentialScheme['scheme'], readonly (typeof AUTH_FAILURES)[number][]>;

/** api, reason: of each API that somebody must be known for, by what it takes. */
export function* knownAuthFailures({ apis }: Pick<GatewayPlan, 'apis'>): Iterable<Labels> {
  for (const { name, access, versions } of apis) {
    const rules = [...versions.values()].flatMap((version) => withOperations(version));
    for (const each of [access, ...rules.map((rule) => rule.access)]) {
      if (each.kind === 'public') continue;
      for (const reason of WHOEVER) yield [name, reason];
      for (const { scheme } of each.schemes) for (const reason of BY_SCHEME[scheme]) yield [name, reason];
    }
  }
}

function withOperations(rules: VersionRules): readonly VersionRules[] {
  return [rules, ...(rules.operations?.list ?? [])];
}
