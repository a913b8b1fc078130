// What operators learn of announcements: a count for each, a line for what failed and for whom nobody can write to.
// Told by announce/, through gateway.ts.
import type { AnnouncementChannel, AnnouncementCounts } from './announcement-counts.ts';
import type { Telemetry } from './telemetry.ts';

export interface AnnounceLines {
  readonly onAnnounced: AnnouncementCounts['announced'];
  readonly onFailed: (channel: AnnouncementChannel, reason: string) => void;
  readonly onRefused: (consumer: string, reason: string) => void;
  readonly onWithoutContact: (consumers: readonly string[]) => void;
  readonly onFault: (error: unknown) => void;
}

/** What announcing needs of telemetry. */
export interface AnnounceTelemetry {
  readonly logger: Pick<Telemetry['logger'], 'warn' | 'error'>;
  readonly metrics: Pick<Telemetry['metrics'], 'announced' | 'announces'>;
}

/** A line is for people; `sundial notify --dry-run` has the others. */
const MOST_NAMED = 20;

export function createAnnounceReport({ logger, metrics }: AnnounceTelemetry): AnnounceLines {
  return {
    onAnnounced: metrics.announced,
    onFailed: (channel, reason) =>
      logger.warn(`announcing by ${channel} failed; it is tried again later`, { reason }),
    onRefused: (consumer, reason) =>
      logger.warn('the mail server refuses the contact of a consumer', { names: consumer, reason }),
    onWithoutContact: (consumers) =>
      logger.warn('consumers of what is deprecated have no contact and are not told', {
        records: consumers.length,
        names: consumers.slice(0, MOST_NAMED).join(', '),
      }),
    onFault: (error) => logger.error('announcing failed', { error }),
  };
}
