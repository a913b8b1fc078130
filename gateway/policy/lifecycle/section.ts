// The lifecycle fields of a version and of an API: dates, successor, links, what follows the sunset.
import { z } from 'zod';
import { instant, isLoopback, lineOfText, notation, orOff, wholeSeconds } from '../notation.ts';
import type { BrownoutRule } from './brownout-rule.ts';
import { brownoutsSection } from './brownout-section.ts';
import { EXEMPTIONS } from './exceptions.ts';
import { isGuideFile } from './guide.ts';
import { parseOperationSuccessor } from './operation-template.ts';
import { retireWhenSection } from './retire-when.ts';

/** A URI by RFC 3986, the authority left to the parser of URLs: a link value then needs no escaping (LNK-3). */
const URI_TEXT =
  /^https?:\/\/[A-Za-z0-9\-._~:[\]@]+(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*)?(?:\?(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*)?(?:#(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*)?$/;
const LONGEST_URL = 2_000;

/** An absolute https URL fit for a Link value; http only for this machine. Undefined for anything else. */
export function parsePageUrl(text: string): string | undefined {
  if (text.length > LONGEST_URL || !URI_TEXT.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return safe && url.username === '' && url.password === '' ? url.href : undefined;
}

const page = (description: string) =>
  notation(parsePageUrl, 'not an absolute https URL with everything else percent-encoded', {
    description,
    examples: ['https://docs.example.com/orders/v1-to-v2'],
  });

/** A page, or a Markdown file beside the policy. */
const guide = (description: string) =>
  notation(
    (text) => (isGuideFile(text) ? text : parsePageUrl(text)),
    'not an absolute https URL with everything else percent-encoded, nor the path of a Markdown file',
    {
      description: `${description} A URL, or a Markdown file relative to this one, which the lifecycle page shows.`,
      examples: ['./guides/orders-v1-to-v2.md', 'https://docs.example.com/orders/v1-to-v2'],
    },
  );

const serviceDoc = page('Documentation for people, sent as Link rel="service-doc" (RFC 8631).');
const serviceDesc = page(
  'Description for machines, such as an OpenAPI document, sent as Link rel="service-desc" (RFC 8631).',
);

const label = (description: string) => z.string().meta({ description, examples: ['v2'] });

const extension = z.strictObject({
  to: instant('The new sunset.'),
  announced: instant('From this day the extension holds for callers; before the sunset it moves.'),
  why: lineOfText('Why: a note for the readers of this file, sent to nobody.').optional(),
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
  consumer: z.string().min(1).max(256).meta({ description: 'Consumer as its token names it.' }),
  until: instant('From this day on the exception does nothing.'),
  from: z.array(z.enum(EXEMPTIONS)).min(1).meta({ description: 'What the consumer is free from.' }),
  why: lineOfText('Why, such as a contract.'),
  by: lineOfText('Who granted it.'),
});

const extensions = z.array(extension).min(1).meta({ description: 'Later sunsets, in the order announced.' });

const own = <Section extends z.ZodType>(section: Section) => orOff(section, undefined).optional();

const exceptionsSection = z
  .array(exception)
  .meta({ description: 'Consumers with leave from brownouts, sunset, lowered limits or a freeze.' });

const freeze = instant(
  'From this day a consumer that was not seen before is refused: 403, and where to go instead.',
);

/**
 * The lifecycle part of an API as a whole; a version may say its own instead, or `off`, and an API without versions has
 * only this. A date D is the instant D T00:00:00Z (SUN-2).
 */
export const wholeApiFields = {
  announced: instant(
    'From this day callers are told of the dates below, where that is before `deprecated`.',
  ).optional(),
  deprecated: instant('From this day answers of the whole API carry Deprecation.').optional(),
  sunset: instant(
    'As first published; from this day no version answers that has no sunset of its own.',
  ).optional(),
  extended: extensions.optional(),
  retired: instant('From this day nothing of the API is left; default: the sunset.').optional(),
  forgotten: instant('From this day the API is unknown, as if it had never existed.').optional(),
  alternate: page('What may serve instead of the API.').optional(),
  guide: guide('Migration guide, for every version without one of its own.').optional(),
  status: page(
    "Status page, sent as X-API-Deprecation-Info; default: the gateway's own page of the API.",
  ).optional(),
  service_doc: serviceDoc.optional(),
  service_desc: serviceDesc.optional(),
  reason: lineOfText('Why the API goes away; callers read it in the 410.').optional(),
  exceptions: exceptionsSection.optional(),
  brownouts: brownoutsSection.optional(),
  freeze: freeze.optional(),
  retire_when: retireWhenSection.optional(),
};

/** What a version has of the same; `off` where it takes over nothing from its API. */
export const lifecycleFields = {
  released: instant('From this day the version answers.'),
  announced: own(
    instant('From this day callers are told of the dates below, where that is before `deprecated`.'),
  ),
  deprecated: own(instant('From this day answers carry Deprecation.')),
  sunset: own(instant('As first published; from this day the version no longer answers.')),
  extended: own(extensions),
  retired: own(instant('From this day nothing of the version is left; default: the sunset.')),
  forgotten: own(instant('From this day the version is unknown, as if it had never existed.')),
  successor: label('Version to move to.').optional(),
  alternate: own(page('What may serve instead, for a version without a successor.')),
  guide: own(guide('Migration guide.')),
  status: own(
    page("Status page, sent as X-API-Deprecation-Info; default: the gateway's own page of the API."),
  ),
  service_doc: own(serviceDoc),
  service_desc: own(serviceDesc),
  reason: own(lineOfText('Why the version goes away; callers read it in the 410.')),
  after: after
    .meta({ description: 'What follows the sunset: gone (410) or a redirect; default gone.' })
    .optional(),
  exceptions: own(exceptionsSection),
  brownouts: own(brownoutsSection),
  freeze: own(freeze),
  retire_when: own(retireWhenSection),
};

const NO_BROWNOUTS: readonly BrownoutRule[] = [];

/** The lifecycle part of one operation; what is absent is the version's. */
export const operationFields = {
  deprecated: instant('From this day answers of the operation carry Deprecation.').optional(),
  sunset: instant('From this day the operation no longer answers.').optional(),
  successor: notation(
    parseOperationSuccessor,
    'not a version, an operation, or both such as v3 GET /items/{id}',
    {
      description:
        'Where to go instead: a version, an operation of this version, or an operation of another.',
      examples: ['v3', 'GET /', 'v3 GET /items/{id}'],
    },
  ).optional(),
  guide: guide('Migration guide.').optional(),
  reason: lineOfText('Why the operation is deprecated.').optional(),
  after: z
    .enum(['gone', 'redirect'])
    .meta({ description: 'What follows the sunset of the operation: 410, or a redirect to its successor.' })
    .optional(),
  brownouts: orOff(brownoutsSection, NO_BROWNOUTS).optional(),
};

/** Whether refusals for lifecycle and limits are given or only counted. */
export const modeSection = z.enum(['enforce', 'observe']).meta({
  description: 'observe: signal and count, but refuse nothing for lifecycle and limits; default enforce.',
});

/** A 304 cannot take a header from a stored answer: what is stored must go by itself (CACHE-6). */
export const deprecatedMaxAgeSection = wholeSeconds(
  'Longest time an answer of a deprecated version may be reused by caches; default: what the service says.',
);

/** How `Deprecation` is written (DEP-1). */
export const deprecationHeaderSection = z
  .enum(['rfc9745', 'true', 'http-date'])
  .meta({ description: 'Form of the Deprecation header; default rfc9745.' });

/** Who is believed where an upstream sends a `Deprecation` or `Sunset` too (DEP-2, SUN-3). */
export const upstreamWinsSection = z.boolean().meta({
  description:
    'Whether a well-formed Deprecation or Sunset that the service itself sends stays in place of ours; default false.',
});
