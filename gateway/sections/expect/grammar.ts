// The grammar of `expect`, a list of requests with their expected results.
import { z } from 'zod';
import { instant, notation, parseInstant } from '../../policy/notation.ts';

const REQUEST = /^[A-Z]+ \/\S{0,2000}$/;
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const FIELD_VALUE = /^[\t\x20-\x7e]{0,4000}$/;

const request = notation(
  (text) => (REQUEST.test(text) ? text : undefined),
  'not a method and a path, such as GET /api/v1/orders',
  { description: 'Method and path, with the query if there is one.', examples: ['GET /api/v1/orders'] },
);

const day = notation(
  (text) => (parseInstant(text) === undefined ? undefined : text),
  'not a calendar date (YYYY-MM-DD) or an instant with its offset',
  {
    description: 'When the account of the consumer was made; default: its token does not say.',
    examples: ['2025-10-01'],
  },
);

const expectation = z
  .strictObject({
    request,
    headers: z
      .record(
        z.string().regex(FIELD_NAME, 'not the name of a header'),
        z.string().regex(FIELD_VALUE, 'not the value of a header'),
      )
      .meta({ description: 'Headers of the request.', examples: [{ 'API-Version': 'v1' }] })
      .optional(),
    as: z
      .string()
      .min(1)
      .max(256)
      .meta({
        description: 'Consumer that calls, with every scope; default: an anonymous caller.',
        examples: ['acme'],
      })
      .optional(),
    pin: z
      .string()
      .meta({
        description: 'Version that the account of the consumer is pinned to; default: none is stored.',
      })
      .optional(),
    created: day.optional(),
    first_seen: instant('When the consumer first called the version; default: before any freeze.').optional(),
    at: instant('When. Required, so that an expectation holds on any day.'),
    version: z
      .string()
      .meta({ description: 'The version that answers.', examples: ['v1'] })
      .optional(),
    stage: z
      .enum(['planned', 'active', 'deprecated', 'sunset', 'retired'])
      .meta({ description: 'Its stage.' })
      .optional(),
    status: z
      .number()
      .refine(
        (status) => Number.isInteger(status) && status >= 300 && status <= 599,
        'not a status that the gateway answers with, from 300 to 599',
      )
      .meta({
        description: "Status of the gateway's own answer; a forwarded request has none.",
        examples: [410],
      })
      .optional(),
    location: z
      .string()
      .meta({
        description: 'Location of a redirect, as a whole URL.',
        examples: ['https://api.example.com/api/v2/orders'],
      })
      .optional(),
  })
  .refine(
    ({ version, stage, status, location }) =>
      [version, stage, status, location].some((each) => each !== undefined),
    'nothing is expected: write version, stage, status or location',
  );

export type Expectation = z.output<typeof expectation>;

export const expectSection = z
  .array(expectation)
  .meta({ description: 'Requests and what must come of them; run by `check`.' });
