// The grammar of dates and what follows them. A date D is the instant D T00:00:00Z (SUN-2).
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
import { parseCron, parseZone } from '../../policy/lifecycle/brownout-cron.ts';
import type { BrownoutRule, BrownoutTimes } from '../../policy/lifecycle/brownout-rule.ts';
import { EXCEPTION_SCOPES } from '../../policy/lifecycle/exceptions.ts';
import { parseOperationSuccessor } from '../../policy/lifecycle/operation-template.ts';
import { retireWhenSection } from '../../policy/lifecycle/retire-when.ts';
import { duration, instant, lineOfText, notation, orOff, parseShare } from '../../policy/notation.ts';

const label = (description: string) => z.string().meta({ description, examples: ['v2'] });

const extension = z.strictObject({
  to: instant('The new sunset.'),
  announced: instant('From this day the extension applies; before the sunset that it moves.'),
  why: lineOfText(
    'Why: a note for the readers of this file, never sent.',
    'acme is still migrating',
  ).optional(),
});

const after = z.union([
  z.literal('gone'),
  z.strictObject({
    redirect: label('Version to redirect to.'),
    unsafe: z
      .union([z.literal(301), z.literal(308), z.literal(410)])
      .meta({ description: 'Status for methods other than GET and HEAD; default 308.' })
      .optional(),
  }),
]);

const exception = z.strictObject({
  consumer: z
    .string()
    .min(1)
    .max(256)
    .meta({ description: 'Consumer id, as in its token.', examples: ['acme'] }),
  until: instant('The exception expires on this day.'),
  from: z.array(z.enum(EXCEPTION_SCOPES)).min(1).meta({ description: 'What the consumer is excepted from.' }),
  why: lineOfText('Why, such as a contract.', 'contract 4711'),
  by: lineOfText('Who granted it.', 'api-team'),
});

const extensions = z
  .array(extension)
  .min(1)
  .meta({ description: `${GLOSSARY.extension} In the order of the announcements.` });

const exceptionsSection = z.array(exception).meta({ description: GLOSSARY.exception });

const brownout = z.strictObject({
  from: instant('Start of the window, or of the repetition (default: the deprecation).').optional(),
  until: instant('End of the window, or of the repetition (default: the sunset).').optional(),
  before_sunset: duration(
    'Instead of `from`: a time before the sunset. With cron, a phase ends when the next one begins.',
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
    'Announcement day, from which the brownout applies: at least 14 days before the first window.',
  ),
  percentage: notation(parseShare, 'not a share such as 25%', {
    description: 'Share of the consumers that are refused, each for the whole window; default 100%.',
    examples: ['25%'],
  }).optional(),
  status: z
    .union([z.literal(410), z.literal(503)])
    .meta({ description: 'Status inside a window; default 410.' })
    .optional(),
  message: lineOfText(
    'Message in the body; default: the end of the window and what follows.',
    'Orders v1 ends on April 15.',
  ).optional(),
});

type Brownout = z.output<typeof brownout>;

export const brownoutsSection = z
  .array(
    brownout.transform((written, context): BrownoutRule => {
      const times = timesOf(written);
      if (typeof times === 'string') {
        context.addIssue({ code: 'custom', message: times });
        return z.NEVER;
      }
      const { announced, percentage, status, message } = written;
      // Without a share the gateway need not identify the caller.
      const share = percentage === 1 ? undefined : percentage;
      return { times, announced, status: status ?? 410, share, message };
    }),
  )
  .meta({ description: GLOSSARY.brownout });

/** A string is the problem with the combination of keys. */
function timesOf(written: Brownout): BrownoutTimes | string {
  const { from, until, before_sunset: beforeSunset, for: lasts, cron, zone } = written;
  if (zone !== undefined && cron === undefined) return 'zone is only for a cron expression';
  if (cron !== undefined && zone === undefined) return 'a cron expression needs its zone, such as zone: UTC';
  if (cron !== undefined && lasts === undefined)
    return 'a cron expression needs for: how long a window lasts';
  const beat =
    cron === undefined || zone === undefined || lasts === undefined ? undefined : { cron, zone, lasts };
  if (beforeSunset !== undefined) {
    if (from !== undefined || until !== undefined) return 'before_sunset replaces from and until';
    if (lasts === undefined) return 'before_sunset needs for: how long a window lasts';
    return { kind: 'phase', beforeSunset, beat, lasts };
  }
  if (beat !== undefined) return { kind: 'repeated', beat, from, until };
  if (from === undefined) return 'a brownout needs from, before_sunset or cron';
  if (until !== undefined && lasts !== undefined) return 'a window has until or for, not both';
  if (until !== undefined) return { kind: 'dated', from, until };
  return lasts === undefined ? 'a window needs until or for' : { kind: 'dated', from, until: from + lasts };
}

const freeze = instant(GLOSSARY.freeze);

const NO_BROWNOUTS: readonly BrownoutRule[] = [];

/** For a version. `off` stops the inheritance from the API. */
const own = <Section extends z.ZodType>(section: Section) => orOff(section, undefined).optional();

/** Versions may replace the dates of the API. An API without versions has only these. */
export const dateFields = {
  ofApi: {
    announced: instant('Announcement day of the dates below, if it is before `deprecated`.').optional(),
    deprecated: instant('From this day responses of the whole API carry Deprecation.').optional(),
    sunset: instant(
      `${GLOSSARY.sunset} As first published. Versions without a sunset inherit it.`,
    ).optional(),
    extended: extensions.optional(),
    retired: instant('From this day no exception passes; default: the sunset.').optional(),
    forgotten: instant('From this day the API is unknown, as if it had never existed.').optional(),
  },
  ofVersion: {
    released: instant('From this day the version is served.'),
    announced: own(instant('Announcement day of the dates below, if it is before `deprecated`.')),
    deprecated: own(instant('From this day responses carry Deprecation.')),
    sunset: own(instant(`${GLOSSARY.sunset} As first published.`)),
    extended: own(extensions),
    retired: own(instant('From this day no exception passes; default: the sunset.')),
    forgotten: own(instant('From this day the version is unknown, as if it had never existed.')),
    successor: label(GLOSSARY.successor).optional(),
  },
  /** Missing keys are inherited from the version. */
  ofOperation: {
    deprecated: instant('From this day responses of the operation carry Deprecation.').optional(),
    sunset: instant(GLOSSARY.sunset).optional(),
    successor: notation(
      parseOperationSuccessor,
      'successor must be a version (v3), an operation (GET /items/{id}) or both (v3 GET /items/{id})',
      {
        description: `${GLOSSARY.successor} A version, an operation of this version, or an operation of another version.`,
        examples: ['v3', 'GET /', 'v3 GET /items/{id}'],
      },
    ).optional(),
  },
};

export const endFields = {
  ofApi: {
    exceptions: exceptionsSection.optional(),
    brownouts: brownoutsSection.optional(),
    freeze: freeze.optional(),
    retire_when: retireWhenSection.optional(),
  },
  ofVersion: {
    after: after
      .meta({ description: 'What follows the sunset: gone (410) or a redirect; default gone.' })
      .optional(),
    exceptions: own(exceptionsSection),
    brownouts: own(brownoutsSection),
    freeze: own(freeze),
    retire_when: own(retireWhenSection),
  },
  ofOperation: {
    after: z
      .enum(['gone', 'redirect'])
      .meta({ description: 'What follows the sunset of the operation: 410, or a redirect to its successor.' })
      .optional(),
    brownouts: orOff(brownoutsSection, NO_BROWNOUTS).optional(),
  },
};
