// The grammar of `resolve`: carriers, pins and the default version.
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
import { notation, oneOf, parseClaimName } from '../../policy/notation.ts';
import { parseTemplate } from '../../policy/versioning/media-type.ts';

const VERSIONED_PATH = /^(\/[A-Za-z0-9._~-]{1,150})*\/\{version\}(\/[A-Za-z0-9._~-]{1,150})*$/;
const VERSIONED_HOST = /^\{version\}(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/;
const PARAMETER = /^[A-Za-z][A-Za-z0-9._~-]{0,63}$/;
/** Visible characters and blanks. */
const IGNORED = /^[\x20-\x7e]{1,64}$/;
const HEADER = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
/** Fields with another meaning. For some of them Node keeps only the first line, which would hide a second version. */
const TAKEN =
  /^(host|authorization|proxy-authorization|cookie|set-cookie|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|expires|accept.*|range|if-.*|age|etag|last-modified|forwarded|x-forwarded-.*|max-forwards|via|date|from|location|origin|referer|retry-after|server|user-agent)$/i;

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

const query = notation(
  (text) => (PARAMETER.test(text) ? text : undefined),
  'not the name of a query parameter, such as version',
  {
    description: 'Query parameter that names the version; its name is case-sensitive.',
    examples: ['version'],
  },
);

const ignored = notation(
  (text) => (IGNORED.test(text) ? text : undefined),
  'not the decoded name of a query parameter, such as version[gte]',
  { description: 'Decoded name of a query parameter.', examples: ['version[gte]'] },
);

const mediaType = notation(
  parseTemplate,
  'not a media type in lower case with {version} before its suffix or {n} as a parameter',
  {
    description: 'Media type that carries the version, in Accept and Content-Type.',
    examples: ['application/vnd.acme.{version}+json', 'application/vnd.acme+json; version={n}'],
  },
);

const subdomain = notation(
  (text) => (VERSIONED_HOST.test(text) && !/\.[0-9]+$/.test(text) ? text : undefined),
  'not a host in lower case whose first label is {version}, such as {version}.api.example.com',
  { description: 'Host with the version as its first label.', examples: ['{version}.api.example.com'] },
);

const claim = (description: string, example: string) =>
  notation(parseClaimName, `not the name of a claim about an account, such as ${example}`, {
    description,
    examples: [example],
  });

const pin = z
  .strictObject({
    by: claim(
      'Claim that names the account; default: consumer, the consumer of the token.',
      'account_id',
    ).optional(),
    created: claim(
      'Claim with the creation day of the account. Without it, the first call decides.',
      'account_created',
    ).optional(),
    match: oneOf(
      ['exact', 'floor'],
      'floor: the newest version up to that day. exact: a version of that day; default floor.',
    ),
  })
  .meta({ description: GLOSSARY.pin });

/** Each entry of `resolve` has exactly one of these. */
export const RESOLVE_KEYS = ['path', 'header', 'query', 'media_type', 'subdomain', 'pin', 'default'] as const;

const carrier = z
  .strictObject({
    path: path.optional(),
    header: header.optional(),
    query: query.optional(),
    media_type: mediaType.optional(),
    subdomain: subdomain.optional(),
    match: oneOf(
      ['exact', 'floor'],
      'floor: the newest version up to the date in the header. exact: a version of that date; default exact.',
    ),
    ignore: z
      .array(ignored)
      .min(1)
      .meta({
        description: 'Parameters with a similar name that do not carry the version; `*` stands for any text.',
      })
      .optional(),
    pin: pin.optional(),
    default: z
      .string()
      .meta({ description: 'Version of a request that names none.', examples: ['v2'] })
      .optional(),
  })
  .refine(
    (entry) => RESOLVE_KEYS.filter((each) => entry[each] !== undefined).length === 1,
    `each entry names exactly one of ${RESOLVE_KEYS.join(', ')}`,
  )
  .refine((entry) => entry.match === undefined || entry.header !== undefined, 'match is only for a header')
  .refine((entry) => entry.ignore === undefined || entry.query !== undefined, 'ignore is only for a query');

/** The gateway reads every listed carrier. Two that disagree are refused (VER-3). */
export const resolveSection = z
  .array(carrier)
  .min(1)
  .meta({ description: 'Places of the version in requests. All are read; two different versions get 400.' });

/** NEG-5: if the version came from Accept, the response may name the versioned type. */
export const rewriteContentTypeSection = z.boolean().meta({
  description:
    'Whether a response to a versioned Accept gets the versioned type in place of the plain one; default false.',
});

/** STAT-1: replaces the status of the carrier. A version in Content-Type always gets 415. */
export const unknownVersionStatusSection = z.union([z.literal(400), z.literal(404), z.literal(406)]).meta({
  description:
    'Status for a version that does not exist; default: 404 in path and subdomain, 406 in Accept, 400 elsewhere.',
});

/** The header for upstreams that set no `version_as`. */
export const DEFAULT_VERSION_HEADER = 'API-Version';

/** VER-9: how the gateway sends the resolved version to the upstream. */
export const versionAsSection = z
  .union([z.enum(['none', 'path']), z.strictObject({ header }), z.strictObject({ query })])
  .meta({
    description:
      'How the upstream gets the version: by header, query parameter, first path segment, or not at all.',
  });
