// The grammar of lifecycle signals in responses, and of `mode`.
import { z } from 'zod';
import { wholeSeconds } from '../../policy/notation.ts';

export const modeSection = z.enum(['enforce', 'observe']).meta({
  description: 'observe: signal and count, but refuse nothing for lifecycle and limits; default enforce.',
});

/** CACHE-6: a 304 cannot remove a header from a stored response, so stored responses must expire. */
export const deprecatedMaxAgeSection = wholeSeconds(
  'Longest time an answer of a deprecated version may be reused by caches; default: what the service says.',
);

/** DEP-1. */
export const deprecationHeaderSection = z
  .enum(['rfc9745', 'true', 'http-date'])
  .meta({ description: 'Form of the Deprecation header; default rfc9745.' });

/** DEP-2, SUN-3. */
export const upstreamWinsSection = z.boolean().meta({
  description:
    'Whether a well-formed Deprecation or Sunset that the service itself sends stays in place of ours; default false.',
});

export const echoSection = z.boolean().meta({
  description:
    'Whether answers carry X-API-Version-Requested, X-API-Version-Served and X-API-Lifecycle-Stage; default false.',
});

export const warningSection = z
  .boolean()
  .meta({ description: 'Whether deprecated answers carry Warning: 299; default true.' });
