// The `resolve` section of a policy file: which carriers are read for a version, and the default.
// Its shape only; whether labels exist is checked against the whole file.
import { z } from 'zod';
import { notation } from '../notation.ts';

const VERSIONED_PATH = /^(\/[A-Za-z0-9._~-]+)*\/\{version\}(\/[A-Za-z0-9._~-]+)*$/;
const HEADER = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
/** Fields that already mean something else; reading a version from one would break it. */
const TAKEN =
  /^(host|authorization|cookie|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept.*|range|if-.*|forwarded|x-forwarded-.*|via|date|origin|referer|user-agent)$/i;

const path = notation(
  (text) => (VERSIONED_PATH.test(text) && !/\/\.{1,2}(\/|$)/.test(text) ? text : undefined),
  'not a path with one whole segment {version}, such as /api/{version}/orders',
  { description: 'Path with the version as one whole segment.', examples: ['/api/{version}/orders'] },
);

const header = notation(
  (text) => (HEADER.test(text) && !TAKEN.test(text) ? text : undefined),
  'not a field name that can carry a version, such as API-Version',
  { description: 'Request header that names the version.', examples: ['API-Version'] },
);

const carrier = z
  .strictObject({
    path: path.optional(),
    header: header.optional(),
    default: z.string().meta({ description: 'Version of a request that names none.' }).optional(),
  })
  .refine(
    (entry) => Object.keys(entry).length === 1,
    'each entry names exactly one of path, header, default',
  );

/** Every carrier listed is read; disagreement between two is refused (VER-3). */
export const resolveSection = z
  .array(carrier)
  .min(1)
  .meta({ description: 'Where clients write the version. All listed places are read; disagreement is 400.' });

/** Header that tells the upstream which version was resolved (VER-9). */
export const versionAsSection = z
  .union([z.literal('none'), z.strictObject({ header })])
  .meta({ description: 'How the upstream learns the version: a header, or none.' });
