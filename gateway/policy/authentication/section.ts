// The `access` section of a policy file: who may call an API.
// There is no default: an API without it is refused, so that none is open by oversight.
import { z } from 'zod';
import { notation } from '../notation.ts';

/** scope-token of RFC 6749 section 3.3. */
const scope = notation(
  (text) => (/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(text) ? text : undefined),
  'not a scope: no spaces, quotes or backslashes',
  { description: 'A scope.', examples: ['orders:read'] },
);

const scopes = z
  .strictObject({
    read: z.array(scope).meta({ description: 'All needed for GET, HEAD and OPTIONS.' }).optional(),
    write: z.array(scope).meta({ description: 'All needed for every other method.' }).optional(),
  })
  .meta({ description: 'Scopes a token must have.' });

export const accessSection = z
  .union([
    z.literal('public'),
    z.strictObject({
      identity: z.union([z.string(), z.array(z.string()).min(1)]).meta({
        description: 'Name of an identity in gateway.yaml, or several in the order they are asked.',
      }),
      scopes: scopes.optional(),
    }),
  ])
  .meta({ description: 'Who may call: public, or who is known to an identity.' });

/** One operation in an API: open where the rest is not, or with scopes of its own. */
export const operationAccessSection = z
  .union([
    z.literal('public'),
    z.strictObject({ scopes: z.array(scope).meta({ description: 'All needed for this operation.' }) }),
  ])
  .meta({ description: 'Who may call this operation; default: as the API says.' });
