// Refusals of the pipeline, and what becomes of them where an API is only observed.
// Called at each step of the pipeline that may refuse for lifecycle or limits.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { Directive, Refusal, RefusalReason } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';

export function refuse(refusal: Refusal): Directive {
  return { kind: 'refuse', refusal };
}

/**
 * A refusal for lifecycle or limits. Where the API is only observed, what enforcing would have refused is noted and the
 * request goes on (undefined), as long as there is an upstream for it to go to.
 */
export function enforce(
  { mode }: ApiPlan,
  { upstream }: VersionRules,
  facts: ExchangeFacts,
  refusal: Refusal,
): Directive | undefined {
  if (mode === 'enforce' || upstream === undefined) return refuse(refusal);
  observe(facts, refusal.reason);
  return undefined;
}

/** The first reason counts: with it enforcing would have been done with the request. */
export function observe(facts: ExchangeFacts, reason: RefusalReason): void {
  facts.observed ??= reason;
}
