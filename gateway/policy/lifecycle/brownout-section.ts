// The `brownouts` list of a policy file: dated windows, cron in a zone, phases before the sunset.
import { z } from 'zod';
import { duration, instant, lineOfText, notation, parseShare } from '../notation.ts';
import { parseCron, parseZone } from './brownout-cron.ts';
import type { BrownoutRule, BrownoutTimes } from './brownout-rule.ts';

const entry = z.strictObject({
  from: instant('Begin of the window, or of the repetition (default: the deprecation).').optional(),
  until: instant('End of the window, or of the repetition (default: the sunset).').optional(),
  before_sunset: duration(
    'Instead of `from`: this long before the sunset. With cron it lasts until the next such phase.',
  ).optional(),
  for: duration('How long one window lasts.').optional(),
  cron: notation(parseCron, 'not a cron expression of five fields such as 0 14 * * 2', {
    description: 'When windows begin: minute, hour, day of month, month, day of week.',
    examples: ['0 14 * * 2'],
  }).optional(),
  zone: notation(parseZone, 'not a time zone such as UTC or Europe/Berlin', {
    description: 'Time zone of the cron expression.',
    examples: ['UTC', 'Europe/Berlin'],
  }).optional(),
  announced: instant(
    'From this day callers are told, and it holds: at least 14 days before the first window.',
  ),
  percentage: notation(parseShare, 'not a share such as 25%', {
    description: 'Share of the consumers that meet the window, each for all of it; default 100%.',
    examples: ['25%'],
  }).optional(),
  status: z
    .union([z.literal(410), z.literal(503)])
    .meta({ description: 'Status inside a window; default 410.' })
    .optional(),
  message: lineOfText('Sentence of the body; default: says until when and what follows.').optional(),
});

type Entry = z.output<typeof entry>;

/** The brownouts of one version or operation. */
export const brownoutsSection = z
  .array(
    entry.transform((written, context): BrownoutRule => {
      const times = timesOf(written);
      if (typeof times === 'string') {
        context.addIssue({ code: 'custom', message: times });
        return z.NEVER;
      }
      const { announced, percentage, status, message } = written;
      // All of the callers is everyone: then it need not be known who is calling.
      const share = percentage === 1 ? undefined : percentage;
      return { times, announced, status: status ?? 410, share, message };
    }),
  )
  .meta({ description: 'Announced short refusals between deprecation and sunset.' });

/** The times of an entry, or what is wrong with its combination of keys. */
function timesOf(written: Entry): BrownoutTimes | string {
  const { from, until, before_sunset: beforeSunset, for: lasts, cron, zone } = written;
  if (zone !== undefined && cron === undefined) return 'zone belongs to a cron expression';
  if (cron !== undefined && zone === undefined) return 'a cron expression needs its zone, such as zone: UTC';
  if (cron !== undefined && lasts === undefined)
    return 'a cron expression needs for: how long a window lasts';
  const beat =
    cron === undefined || zone === undefined || lasts === undefined ? undefined : { cron, zone, lasts };
  if (beforeSunset !== undefined) {
    if (from !== undefined || until !== undefined) return 'before_sunset stands instead of from and until';
    if (lasts === undefined) return 'before_sunset needs for: how long a window lasts';
    return { kind: 'phase', beforeSunset, beat, lasts };
  }
  if (beat !== undefined) return { kind: 'repeated', beat, from, until };
  if (from === undefined) return 'a brownout needs from, before_sunset or cron';
  if (until !== undefined && lasts !== undefined) return 'a window has until or for, not both';
  if (until !== undefined) return { kind: 'dated', from, until };
  return lasts === undefined ? 'a window needs until or for' : { kind: 'dated', from, until: from + lasts };
}
