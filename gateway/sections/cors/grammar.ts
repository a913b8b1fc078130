// The grammar of `cors`, the web pages that may call an API from a browser.
import { z } from 'zod';
import { ANY_ORIGIN, parseOrigin } from '../../policy/cors/origin.ts';
import { notation } from '../../policy/notation.ts';

const origin = notation(
  parseOrigin,
  'not an origin as browsers send it: scheme, host in lower case, the port if not the usual one, no path; or *',
  { description: 'Origin of a page, or * for every page.', examples: ['https://app.example.com'] },
);

export const corsSection = z
  .strictObject({
    origins: z
      .array(origin)
      .min(1)
      .refine((origins) => origins.length === 1 || !origins.includes(ANY_ORIGIN), '"*" stands alone')
      .meta({ description: 'Pages that may read answers; cookies are never allowed.' }),
  })
  .meta({
    description: 'Calls from browsers: preflights are answered here, answers name who may read them.',
  });
