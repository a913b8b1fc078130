// The `cors` section of a policy file: the web pages that may call an API from a browser.
import { z } from 'zod';
import { notation } from '../../policy/notation.ts';

export const ANY_ORIGIN = '*';

/** An origin exactly as browsers serialise it, or `*`; undefined for anything else, `null` included. */
function parseOrigin(text: string): string | undefined {
  if (text === ANY_ORIGIN) return text;
  if (!/^https?:\/\/[^*]+$/.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin === text ? text : undefined;
}

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
