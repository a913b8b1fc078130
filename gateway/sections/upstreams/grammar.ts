// The grammar of `upstreams`, the services behind the versions of an API.
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
import { parseFieldName } from '../../policy/headers/field-name.ts';
import { duration, notation, parseDuration } from '../../policy/notation.ts';
import { connectionFields } from '../connections/grammar.ts';
import { versionAsSection } from '../resolve/grammar.ts';

const PATH = /^(\/[A-Za-z0-9._~-]{1,150})+$/;

/** A plain path without query, escapes or dot segments. `/` is the root. */
function parsePath(text: string): string | undefined {
  const plain = text === '/' || (PATH.test(text) && !/\/\.{1,2}(\/|$)/.test(text));
  return plain ? text : undefined;
}

/** An http or https origin: scheme, host and port. Undefined if the URL has any other part. */
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
  notation(parse, 'not an origin: only http or https, a host and an optional port', {
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
  connect: duration('Time until the connection is established; default 1s.').optional(),
  headers: duration(
    'Time until the response headers are complete; restarts with each interim response (1xx); default 5s.',
  ).optional(),
  idle: duration('Time between two chunks of a body; default 30s.').optional(),
  total: duration('Time for the whole exchange; default 60s.').optional(),
});

const identityField = (description: string, example: string) =>
  notation(parseFieldName, 'not a field name', { description, examples: [example] });

const identityHeaders = z
  .strictObject({
    consumer: identityField(
      'Header for the id of the consumer. Characters other than visible ASCII are percent-encoded.',
      'X-Consumer-Id',
    ).optional(),
    scopes: identityField(
      'Header for the scopes of the consumer, separated by blanks.',
      'X-Consumer-Scopes',
    ).optional(),
  })
  .refine(
    ({ consumer, scopes }) => consumer !== undefined || scopes !== undefined,
    'name a field for consumer, scopes or both',
  );

const CHECK_PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*(\?[A-Za-z0-9\-._~!$&'()*+,;=:@/?]*)?$/;

/** A path with an optional query, sent as written: no escapes, no dot segments. */
function parseCheckPath(text: string): string | undefined {
  const [path = ''] = text.split('?');
  return text.length <= 200 && CHECK_PATH.test(text) && !/\/\.{1,2}(\/|$)/.test(path) ? text : undefined;
}

const checkPath = notation(
  parseCheckPath,
  'not a path such as /healthz: from the root of the target, without escapes or dot segments',
  { description: 'Requested with GET; 2xx and 3xx mean healthy.', examples: ['/healthz'] },
);

const LONGEST_CHECK_MS = 3_600_000;

const upToAnHour = (description: string) =>
  notation(
    (text) => {
      const ms = parseDuration(text);
      return ms === undefined || ms > LONGEST_CHECK_MS ? undefined : ms;
    },
    'not a duration of up to 1h, such as 500ms, 5s or 1m',
    { description, examples: ['5s', '1m'] },
  );

const count = (description: string) => z.int().min(1).max(1_000).meta({ description });

const health = z.strictObject({
  path: checkPath,
  every: upToAnHour('Time from one check to the next; default 5s.').optional(),
  timeout: upToAnHour('Time for a whole check; default 1s.').optional(),
  healthy: count('Consecutive successful checks that restore a target; default 2.').optional(),
  unhealthy: count('Consecutive failed checks that remove a target; default 3.').optional(),
});

const breaker = z.strictObject({
  failures: count('Consecutive failed requests that remove a target; default 5.').optional(),
  open: duration('Time until one request tries the target again; default 10s.').optional(),
});

export const upstreamSection = z.strictObject({
  targets: z
    .array(origin('One address.', 'http://127.0.0.1:4001'))
    .min(1)
    .meta({ description: 'Addresses of the service, as origins.' }),
  path: plainPath(
    'Path that replaces the base before the rest of the path; default: base.',
    '/orders',
  ).optional(),
  version_as: versionAsSection.optional(),
  authorization: z
    .enum(['keep', 'strip'])
    .meta({ description: 'Whether the upstream gets the Authorization header; default keep.' })
    .optional(),
  identity_headers: identityHeaders
    .meta({
      description:
        'Headers that name the caller for the upstream; client headers with these names are dropped.',
    })
    .optional(),
  timeout: z
    .union([duration('Time for the response headers.'), timeouts])
    .meta({ description: 'One timeout for the response headers, or single timeouts.' })
    .optional(),
  balance: z
    .enum(['round-robin', 'least-requests', 'consumer'])
    .meta({
      description:
        'How one of several targets is chosen; consumer: the same caller gets the same target. Default round-robin.',
    })
    .optional(),
  slow_start: duration(
    'Time in which the load of a recovered target rises to its full share; default: at once.',
  ).optional(),
  health: z
    .union([checkPath, health])
    .meta({
      description: 'Health checks of each target: a path, or all settings. Default: no checks.',
    })
    .optional(),
  breaker: z
    .union([z.literal('off'), breaker])
    .meta({
      description: `${GLOSSARY.breaker} \`off\` disables it. Default: off for one target, 5 failures and 10s for several, never for the last one in service.`,
    })
    .optional(),
  ...connectionFields,
});
