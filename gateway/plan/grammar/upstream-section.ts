// The `upstreams` section of a policy file: the services an API's versions are forwarded to.
// Its shape only; which version uses which upstream is checked against the whole file.
import { z } from 'zod';
import { duration, notation } from '../../policy/notation.ts';
import { versionAsSection } from '../../policy/versioning/section.ts';
import { connectionFields } from './connection-sections.ts';
import { parseFieldName } from './message-sections.ts';
import { targetFields } from './target-sections.ts';

const PATH = /^(\/[A-Za-z0-9._~-]{1,150})+$/;

/** A plain path: no query, no escapes, no dot segments; `/` is the root. */
function parsePath(text: string): string | undefined {
  const plain = text === '/' || (PATH.test(text) && !/\/\.{1,2}(\/|$)/.test(text));
  return plain ? text : undefined;
}

/** An origin: scheme http or https, host, port. Undefined when the URL has anything more. */
export function parseOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const bare =
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '' &&
    !url.hostname.includes('*');
  return bare && /^https?:$/.test(url.protocol) && !/[\s\\]/.test(text) ? url.origin : undefined;
}

export const origin = (description: string, example: string, parse = parseOrigin) =>
  notation(parse, 'not an origin: http or https, a host and perhaps a port, nothing else', {
    description,
    examples: [example],
  });

export const plainPath = (description: string, example: string) =>
  notation(
    parsePath,
    'not a plain path such as /orders: no trailing slash, query, escapes, dot segments or segment above 150 characters',
    {
      description,
      examples: [example],
    },
  );

const timeouts = z.strictObject({
  connect: duration('Until the connection stands; default 1s.').optional(),
  headers: duration(
    'Until the response headers are complete, anew with each interim answer (1xx); default 5s.',
  ).optional(),
  idle: duration('Between two chunks of a body; default 30s.').optional(),
  total: duration('For the whole exchange; default 60s.').optional(),
});

const identityField = (description: string, example: string) =>
  notation(parseFieldName, 'not a field name', { description, examples: [example] });

const identityHeaders = z
  .strictObject({
    consumer: identityField(
      'The id of the consumer, percent-encoded beyond visible ASCII.',
      'X-Consumer-Id',
    ).optional(),
    scopes: identityField('The scopes it has, separated by blanks.', 'X-Consumer-Scopes').optional(),
  })
  .refine(
    ({ consumer, scopes }) => consumer !== undefined || scopes !== undefined,
    'name a field for consumer, scopes or both',
  );

export const upstreamSection = z.strictObject({
  targets: z
    .array(origin('One address.', 'http://127.0.0.1:4001'))
    .min(1)
    .meta({ description: 'Addresses of the service, as origins.' }),
  path: plainPath(
    'What replaces the base in front of the rest of the path; default: base.',
    '/orders',
  ).optional(),
  version_as: versionAsSection.optional(),
  authorization: z
    .enum(['keep', 'strip'])
    .meta({ description: 'Whether the upstream sees the Authorization field; default keep.' })
    .optional(),
  identity_headers: identityHeaders
    .meta({
      description: 'Fields that tell the upstream who calls; what clients send under these names is dropped.',
    })
    .optional(),
  timeout: z
    .union([duration('Time for the response headers.'), timeouts])
    .meta({ description: 'One duration for the response headers, or each of them.' })
    .optional(),
  ...targetFields,
  ...connectionFields,
});
