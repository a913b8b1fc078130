// Rows of what stands in the plan: the stage of each API and version, and its dates as overrides leave them.
// Part of the table in metrics.ts; nothing of them is counted.
import type { apisStanding, Standing } from '../exchange/standing.ts';
import { apiSamples, dateSamples, pausedSamples, versionSamples } from './plan-samples.ts';
import { gauge, type MetricRow } from './series.ts';

const VERSION = ['api', 'version'] as const;

export function versionRows(
  standing: () => Iterable<Standing>,
  apis: () => ReturnType<typeof apisStanding>,
): MetricRow[] {
  return [
    gauge(
      'sundial_api_info',
      'The stage of an API now, which is that of its most alive version; always 1.',
      ['api', 'stage'],
      () => apiSamples(apis()),
      'primary',
    ),
    gauge(
      'sundial_version_info',
      'The stage of a version now and its successor; always 1.',
      [...VERSION, 'stage', 'successor'],
      () => versionSamples(standing()),
      'primary',
    ),
    gauge(
      'sundial_version_deprecation_timestamp_seconds',
      'When a version becomes or became deprecated.',
      VERSION,
      () => dateSamples(standing(), 'deprecated'),
      'primary',
    ),
    gauge(
      'sundial_version_sunset_timestamp_seconds',
      'When a version stops answering, announced extensions, a pause and a hold included.',
      VERSION,
      () => dateSamples(standing(), 'sunset'),
      'primary',
    ),
    gauge(
      'sundial_version_paused',
      'Whether a pause holds brownouts and retirement.',
      VERSION,
      () => pausedSamples(standing()),
      'primary',
    ),
  ];
}
