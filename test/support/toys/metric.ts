// A sample metric: requests with and without a trace, `sundial_toy_traces_total`.
import type { Toy } from './toy.ts';

export const METRIC: Toy = {
  edits: [
    {
      file: 'gateway/telemetry/requests/outcome-counters.ts',
      after: 'const OUTCOME_COUNTERS: readonly OutcomeCounter[] = [\n',
      add: `  {
    name: 'sundial_toy_traces_total',
    help: 'Requests by whether they belong to a trace.',
    label: 'trace',
    valueOf: ({ start }) => (start.trace === undefined ? 'none' : 'some'),
  },
`,
    },
  ],
  newFiles: {},
};
