// The rows of the metrics page about the policy files: how often they were read again, how long it took, what is in force.
// A part of metrics.ts; the state is set by reload-report.ts.
import type { ProcessState } from './process-state.ts';
import { counter, gauge, histogram, type MetricRow, single } from './series.ts';

/** `revision`: of the plan in force. */
export function reloadRows(
  state: Pick<
    ProcessState,
    'reloads' | 'reloadDurations' | 'lastReloadSuccessful' | 'lastReloadSuccess' | 'quarantined'
  >,
  revision: () => string,
): readonly MetricRow[] {
  return [
    counter('sundial_config_reloads_total', 'Reloads of the policy files.', ['result'], state.reloads),
    histogram(
      'sundial_config_reload_duration_seconds',
      'From the first look at the policy files to the plan in force everywhere, or to the refusal.',
      ['result'],
      state.reloadDurations,
    ),
    gauge(
      'sundial_config_last_reload_successful',
      'Whether the policy files as they stand are in use.',
      [],
      () => single(state.lastReloadSuccessful() ? 1 : 0),
      'primary',
    ),
    gauge(
      'sundial_config_last_reload_success_timestamp_seconds',
      'When the policy files were last found in order: put in use, or unchanged.',
      [],
      () => single(state.lastReloadSuccess() / 1000),
      'primary',
    ),
    gauge(
      'sundial_policy_quarantined',
      'Whether the policy file of an API is refused: 1, its last accepted form is served; 2, it is left out; 0, not any more.',
      ['api'],
      state.quarantined,
      'primary',
    ),
    gauge(
      'sundial_config_info',
      'The revision of the plan in use; always 1.',
      ['hash'],
      () => [[[revision()], 1]],
      'primary',
    ),
  ];
}
