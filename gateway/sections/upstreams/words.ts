// The diff of an upstream: its targets and its rules with defaults.
import type { BreakerRules, HealthRules } from '../../plan/upstreams/target-rules.ts';
import { spanInWords } from '../../policy/spans.ts';
import { comparedValueAt, membersFact, wordFact } from '../facts.ts';
import { DEFAULT_VERSION_HEADER } from '../resolve/grammar.ts';
import type { Words } from '../section.ts';
import { compileTargetRules, compileTimeouts } from './compile.ts';

export const upstreamWords: Words = {
  ofUpstream: {
    targets: ({ targets }, document, at) => {
      const words = targets.map((each, index) => comparedValueAt(document, [...at, 'targets', index], each));
      return [membersFact('target', words)];
    },
    path: ({ path, file }) => wordFact('path', path ?? file.base),
    version_as: ({ version_as: written = { header: DEFAULT_VERSION_HEADER }, file }, document, at) =>
      file.versions === 'none'
        ? []
        : wordFact('version_as', comparedValueAt(document, [...at, 'version_as'], written)),
    timeout: ({ timeout }) =>
      Object.entries(compileTimeouts(timeout)).flatMap(([name, ms]) => wordFact(`timeout ${name}`, span(ms))),
    balance: (upstream) =>
      wordFact('balance', upstream.targets.length > 1 ? compileTargetRules(upstream).balance : undefined),
    slow_start: (upstream) => {
      const { slowStart } = compileTargetRules(upstream);
      return wordFact('slow_start', slowStart === 0 ? undefined : span(slowStart));
    },
    health: (upstream) => {
      const { health } = compileTargetRules(upstream);
      return wordFact('health', health && formatHealth(health));
    },
    breaker: (upstream) => {
      const { breaker } = compileTargetRules(upstream);
      return wordFact('breaker', breaker === undefined ? 'off' : formatBreaker(breaker));
    },
  },
  defaults: { ofUpstream: { authorization: 'keep' } },
};

function formatHealth({ path, every, timeout, healthy, unhealthy }: HealthRules): string {
  return `${path} every ${span(every)}, timeout ${span(timeout)}, healthy ${healthy}, unhealthy ${unhealthy}`;
}

function formatBreaker({ failures, open, strict }: BreakerRules): string {
  return `${failures} failures, open ${span(open)}${strict ? '' : ', never the last target'}`;
}

function span(ms: number): string {
  return spanInWords(0, ms);
}
