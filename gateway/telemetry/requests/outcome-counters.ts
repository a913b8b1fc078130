// Counters of requests with one label of their own, which the exchange sets.
import type { ExchangeFacts } from '../../exchange/facts.ts';
import { type CounterRow, counter, type Sample, VERSION } from '../series.ts';

interface OutcomeCounter extends Pick<CounterRow, 'name' | 'help'> {
  readonly label: string;
  /** Undefined: the request is not counted. Each value makes a series, so the number of values must be bounded. */
  readonly valueOf: (facts: ExchangeFacts) => string | undefined;
}

const OUTCOME_COUNTERS: readonly OutcomeCounter[] = [
  {
    name: 'sundial_observed_refusals_total',
    help: 'Requests that an API in observe mode would have refused in enforce mode, by reason.',
    label: 'reason',
    valueOf: ({ decision }) => decision.observed,
  },
  {
    name: 'sundial_body_notices_total',
    help: 'Responses eligible for the notice in the body: edited, or the reason why not.',
    label: 'outcome',
    valueOf: ({ completion }) => completion.bodyNotice,
  },
  {
    name: 'sundial_idempotency_keys_total',
    help: 'Requests with an effective idempotency key, by outcome.',
    label: 'outcome',
    valueOf: ({ completion }) => completion.idempotency,
  },
];

/** Counts of one version by value, in the order of the counters. Created on first use. */
export type OutcomeCounts = (Map<string, number> | undefined)[];

export function countOutcomes(counts: OutcomeCounts, facts: ExchangeFacts): void {
  for (let index = 0; index < OUTCOME_COUNTERS.length; index += 1) {
    const value = OUTCOME_COUNTERS[index]?.valueOf(facts);
    if (value === undefined) continue;
    const byValue = counts[index] ?? new Map<string, number>();
    counts[index] = byValue;
    byValue.set(value, (byValue.get(value) ?? 0) + 1);
  }
}

interface CountedVersion {
  readonly api: string;
  readonly version: string;
  readonly outcomes: OutcomeCounts;
}

export function outcomeRows(versions: () => Iterable<CountedVersion>): readonly CounterRow[] {
  return OUTCOME_COUNTERS.map(({ name, help, label }, index) =>
    counter(name, help, [...VERSION, label], () => samplesOf(versions(), index)),
  );
}

function* samplesOf(versions: Iterable<CountedVersion>, index: number): Iterable<Sample> {
  for (const { api, version, outcomes } of versions)
    for (const [value, count] of outcomes[index] ?? []) yield [[api, version, value], count];
}
