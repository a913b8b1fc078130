// Announcements by content, channel and outcome: a counter, and log lines for failures.
import type { Logger } from '../logs/logger.ts';
import { counter, type MetricRow, type Sample } from '../series.ts';

const KINDS = [
  'deprecated',
  'brownout_scheduled',
  'sunset_extended',
  'sunset_approaching',
  'sunset',
  'retired',
] as const;
const RESULTS = {
  mail: ['sent', 'failed', 'refused', 'no_contact'],
  event: ['sent', 'failed'],
} as const;

type AnnouncementChannel = keyof typeof RESULTS;
export type AnnouncementResult = (typeof RESULTS)['mail'][number];

export interface AnnouncementCounts {
  readonly announced: (
    kind: (typeof KINDS)[number],
    channel: AnnouncementChannel,
    result: AnnouncementResult,
  ) => void;
  /** Creates the series at 0, so that `rate()` sees the first failure. */
  readonly announces: (channel: AnnouncementChannel) => void;
  /** kind, channel, result. */
  readonly samples: () => Iterable<Sample>;
}

export function createAnnouncementCounts(): AnnouncementCounts {
  const counts = new Map<string, Sample>();
  const add = (labels: readonly string[], by: number): void => {
    const key = labels.join('\n');
    counts.set(key, [labels, (counts.get(key)?.[1] ?? 0) + by]);
  };
  return {
    announced: (kind, channel, result) => add([kind, channel, result], 1),
    announces: (channel) => {
      for (const kind of KINDS) for (const result of RESULTS[channel]) add([kind, channel, result], 0);
    },
    samples: () => counts.values(),
  };
}

export function announcementRows({ samples }: Pick<AnnouncementCounts, 'samples'>): MetricRow[] {
  return [
    counter(
      'sundial_announcements_total',
      'Mails and events that announce a change of a version, by result.',
      ['kind', 'channel', 'result'],
      samples,
    ),
  ];
}

export interface AnnounceTelemetry {
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly metrics: Pick<AnnouncementCounts, 'announced' | 'announces'>;
}

/** Limits a line that people read. `sundial notify --dry-run` lists all. */
const MAX_NAMED = 20;

export function createAnnounceReport({ logger, metrics }: AnnounceTelemetry) {
  return {
    onAnnounced: metrics.announced,
    onFailed: (channel: AnnouncementChannel, reason: string) =>
      logger.warn(`sending announcements by ${channel} failed; the gateway retries later`, { reason }),
    onRefused: (consumer: string, reason: string) =>
      logger.warn('the mail server refuses the contact of a consumer', { names: consumer, reason }),
    onWithoutContact: (consumers: readonly string[]) =>
      logger.warn('consumers of a deprecated version have no contact, so they get no mail', {
        records: consumers.length,
        names: consumers.slice(0, MAX_NAMED).join(', '),
      }),
    onFault: (error: unknown) => logger.error('sending announcements failed', { error }),
  };
}
