// What a policy file says of the targets of an upstream beyond their addresses, as facts with the defaults filled in.
// Part of the facts of an upstream; writing out a default is no change.
import { compileTargetRules } from '../compile/target-rules.ts';
import type { UpstreamFile } from '../grammar/policy-grammar.ts';
import type { BreakerRules, HealthRules } from '../target-rules.ts';
import { type Fact, plainWord, wordFact } from './facts.ts';
import { spanInWords } from './spans.ts';

export const TARGET_KEYS = ['balance', 'slow_start', 'health', 'breaker'] as const;

export function targetFacts(upstream: UpstreamFile): readonly Fact[] {
  const { balance, slowStart, health, breaker } = compileTargetRules(upstream);
  const several = upstream.targets.length > 1;
  return [
    ...wordFact('balance', several ? plainWord(balance) : undefined),
    ...wordFact('slow_start', slowStart === 0 ? undefined : plainWord(span(slowStart))),
    ...wordFact('health', health && plainWord(spellHealth(health))),
    ...wordFact('breaker', plainWord(breaker === undefined ? 'off' : spellBreaker(breaker))),
  ];
}

function spellHealth({ path, every, timeout, healthy, unhealthy }: HealthRules): string {
  return `${path} every ${span(every)}, timeout ${span(timeout)}, healthy ${healthy}, unhealthy ${unhealthy}`;
}

function spellBreaker({ failures, open, strict }: BreakerRules): string {
  return `${failures} failures, open ${span(open)}${strict ? '' : ', never the last target'}`;
}

function span(ms: number): string {
  return spanInWords(0, ms);
}
