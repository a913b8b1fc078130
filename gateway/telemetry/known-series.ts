// The series that a plan makes possible, at 0 until something is counted: `rate()` does not see a counter's first value, so
// that one which begins at 1 hides the call that an alert is for. Made at scrape, from the plan in force.
import { limitsInForce, type Standing } from '../exchange/standing.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { NONE } from './request-labels.ts';
import type { Sample } from './series.ts';

type Labels = readonly string[];

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

/** api, version, action: what becomes of a request once the version has ended, or meanwhile in a brownout. */
export function* knownRetirements(versions: Iterable<Standing>): Iterable<Labels> {
  for (const { rules } of versions) {
    const { api, label, schedule, brownouts } = rules;
    if (brownouts !== undefined) yield [api, label, 'brownout'];
    if (schedule.sunset !== undefined)
      yield [api, label, schedule.after.kind === 'redirect' ? 'redirect' : 'gone'];
  }
}

/** api, version, policy, decision: of each limit in force, that it lets pass, and that it refuses or would. */
export function* knownDecisions({ apis, guard }: GatewayPlan, now: EpochMs): Iterable<Labels> {
  if (guard !== undefined) yield [NONE, NONE, 'guard', 'limited'];
  for (const { name, mode, versions } of apis) {
    for (const version of versions.values()) {
      for (const [policy, { shadow }] of limitsInForce(version, now)) {
        const refused = shadow || mode === 'observe' ? 'shadow_limited' : 'limited';
        for (const decision of ['allowed', refused]) yield [name, version.label, policy, decision];
      }
    }
  }
}

/** api, reason: of each API that somebody must be known for. */
export function* knownAuthFailures({ apis }: GatewayPlan): Iterable<Labels> {
  for (const { name, access } of apis) {
    if (access.kind === 'public') continue;
    for (const reason of ['credentials_missing', 'token_invalid', 'scope_insufficient']) yield [name, reason];
  }
}
