// The end of a version for the resource that was asked for: where its successor is, and where a redirect would lead.
// Called by the pipeline where a version has ended, before or after it is known who calls.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import { retire } from '../policy/lifecycle/retirement.ts';
import type { LifecycleRefusal, Phase } from '../policy/lifecycle/schedule.ts';
import type { ExchangeFacts } from './facts.ts';
import { type Resource, redirectUrl } from './successor-url.ts';

/** `phase`: that of everybody, in which it has ended. */
export function refuseEnded(
  api: ApiPlan,
  version: VersionRules,
  phase: Phase,
  facts: ExchangeFacts,
  resource: Resource,
): LifecycleRefusal {
  const { label, operation, schedule } = version;
  const redirect = redirectUrl(facts.plan, api, version, facts, resource);
  const { method } = resource;
  return retire({ label, operation, schedule, phase, method, next: facts.successor, redirect });
}
