// The grammar of lifecycle signals in responses, and of `mode`.
import { z } from 'zod';
import { wholeSeconds } from '../../policy/notation.ts';

export const modeSection = z.enum(['enforce', 'observe']).meta({
  description: 'observe: signal and count, but refuse nothing for lifecycle and limits; default enforce.',
});

/** CACHE-6: a 304 cannot remove a header from a stored response, so stored responses must expire. */
export const deprecatedMaxAgeSection = wholeSeconds(
  'Longest time for which caches may reuse a response of a deprecated version; default: as the service says.',
);

/** DEP-1: RFC 9745 is the default. Other forms are for clients that expect them. */
export const deprecationHeaderSection = z
  .enum(['rfc9745', 'true', 'http-date'])
  .meta({ description: 'Form of the Deprecation header; default rfc9745.' });

/** DEP-2, SUN-3: a response has one Deprecation and one Sunset, of the gateway or of the service. */
export const upstreamWinsSection = z.boolean().meta({
  description:
    'Whether a well-formed Deprecation or Sunset of the service replaces that of the gateway; default false.',
});

export const echoSection = z.boolean().meta({
  description:
    'Whether responses carry X-API-Version-Requested, X-API-Version-Served and X-API-Lifecycle-Stage; default false.',
});

export const warningSection = z
  .boolean()
  .meta({ description: 'Whether deprecated responses carry Warning: 299; default true.' });
