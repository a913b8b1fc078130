// The grammar of `config/gateway.yaml`: how the process runs.
// One source for types, messages and the editor schema.
import { z } from 'zod';
import { deprecationHeaderSection, parsePageUrl } from '../../policy/lifecycle/section.ts';
import { notation, parseClaimName, wholeSeconds } from '../../policy/notation.ts';
import { guardSection } from '../../policy/rate-limit/section.ts';
import { alternativesIn, MOST_ALTERNATIVES } from '../read/file-pattern.ts';
import type { StoreSettings } from '../settings.ts';
import { parseRange } from './addresses.ts';
import { boundsSection, drainSection, overloadSection } from './bounds-section.ts';
import { ledgerSection } from './ledger-section.ts';
import { listenersSection, text } from './listeners-section.ts';
import { origin } from './upstream-section.ts';

/** A store as written; `embedded` alone lies in the data folder. */
export type WrittenStore = StoreSettings | { readonly kind: 'data-folder' };

/** `embedded`, `embedded:<folder>`, `redis://…` or `rediss://…`, the latter two with a database as their path. */
function parseStore(written: string): WrittenStore | undefined {
  if (written === 'embedded') return { kind: 'data-folder' };
  const folder = /^embedded:(.+)$/.exec(written)?.[1];
  if (folder !== undefined) return { kind: 'embedded', folder };
  if (!/^rediss?:\/\//.test(written) || !URL.canParse(written)) return undefined;
  const { hostname, pathname, search, hash } = new URL(written);
  // The client would take parameters for options of its own, and what is no number for a database.
  const isPlain = /^\/?\d{0,5}$/.test(pathname) && search === '' && hash === '';
  return hostname === '' || !isPlain ? undefined : { kind: 'redis', url: written };
}

const store = notation(
  parseStore,
  'not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port, perhaps with a database such as /1',
  {
    description:
      'Where pins, pauses and schedules are kept, and with Redis limits counted; default embedded, in the data folder.',
    examples: ['embedded', 'embedded:./data', 'redis://127.0.0.1:6379'],
  },
);

const issuerUrl = (description: string, example = 'https://auth.example.com') =>
  notation(
    (written) => (parsePageUrl(written) === undefined || /[?#]/.test(written) ? undefined : written),
    'not an https URL without query; http is for this machine only',
    { description, examples: [example] },
  );

const CLAIM = { description: 'A claim.' };

/** Asymmetric ones only: a shared secret has no place beside published keys (JWT-1). */
const algorithm = z.enum([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);

const identity = z.strictObject({
  issuer: issuerUrl('The exact `iss` of its tokens.'),
  audience: text('The `aud` that means this gateway.', ['api']),
  jwks: issuerUrl(
    'Where its keys are; default: issuer + /.well-known/jwks.json.',
    'https://auth.example.com/keys',
  ).optional(),
  algorithms: z
    .array(algorithm)
    .min(1)
    .meta({ description: 'Accepted signature algorithms; default RS256, PS256, ES256, EdDSA.' })
    .optional(),
  consumer: z
    .array(notation(parseClaimName, 'not the name of a claim about who calls, such as client_id', CLAIM))
    .min(1)
    .meta({ description: 'Claims tried in order for the consumer; default client_id, azp, sub.' })
    .optional(),
  max_lifetime: wholeSeconds('Longest time from iat to exp; default 1h.').optional(),
  types: z
    .array(text('A type.'))
    .min(1)
    .meta({ description: 'Accepted `typ` values; default at+jwt.' })
    .optional(),
});

const replicas = notation(
  (digits) => (/^[1-9]\d{0,3}$/.test(digits) ? Number(digits) : undefined),
  'not a whole number from 1',
  {
    description: 'How many gateways share the limits; the local fallback divides by it. Default 1.',
  },
);

const MOST_WORKERS = 64;

const workers = notation(
  (written) => {
    if (written === 'auto') return written;
    return /^[1-9]\d?$/.test(written) && Number(written) <= MOST_WORKERS ? Number(written) : undefined;
  },
  `not a whole number from 1 to ${MOST_WORKERS}, or auto`,
  { description: 'How many processes answer requests; auto: one for each processor.', examples: ['auto'] },
);

const fields = {
  public: origin(
    'What Location, Link and metadata are built from; never the Host of a request.',
    'https://api.example.com',
  ),
  listeners: listenersSection,
  trusted_proxies: z
    .array(
      notation(parseRange, 'not an address or a range such as 10.0.0.0/8', {
        description: 'An address or range.',
      }),
    )
    .meta({ description: 'Proxies whose X-Forwarded-For, -Proto and -Host are believed.' })
    .optional(),
  forwarded: z
    .enum(['off', 'rfc7239'])
    .meta({ description: 'rfc7239 sends upstreams Forwarded as well as X-Forwarded-*. Default off.' })
    .optional(),
  store: store.optional(),
  replicas: z
    .union([replicas, z.int().min(1).max(9999)])
    .meta({ description: 'How many gateways share the limits; default 1.' })
    .optional(),
  workers: z
    .union([workers, z.int().min(1).max(MOST_WORKERS)])
    .meta({ description: 'How many processes answer requests, or auto: one for each processor. Default 1.' })
    .optional(),
  identity: z
    .record(z.string(), identity)
    .meta({ description: 'Issuers whose access tokens are accepted, by name.' })
    .optional(),
  credentials_in_url: z
    .array(text('A parameter.', ['access_token']))
    .meta({ description: 'A request with one of these query parameters is refused.' })
    .optional(),
  guard: guardSection.optional(),
  bounds: boundsSection.meta({ description: 'What a client may make the gateway hold.' }).optional(),
  overload: overloadSection
    .meta({
      description: 'When requests are refused with 503 because there are too many; off to refuse none.',
    })
    .optional(),
  drain: drainSection.meta({ description: 'How an orderly end goes.' }).optional(),
  ledger: ledgerSection
    .meta({ description: 'Who calls what is deprecated, kept in the store; off to record nobody.' })
    .optional(),
  deprecation_header: deprecationHeaderSection.optional(),
  data: text('Folder for what the process makes, relative to the working directory; default ./data.', [
    './data',
  ]).optional(),
  policies: text('The policy files, as a glob relative to this file.', ['../policies/*.yaml']).refine(
    (pattern) => alternativesIn(pattern) <= MOST_ALTERNATIVES,
    `the braces come to more than ${MOST_ALTERNATIVES} names: write * for what differs`,
  ),
};

export const gatewayGrammar = z.strictObject(fields);

/** The same, with everything optional: what is left of a file once malformed parts are taken out. */
export const gatewayPartsGrammar = gatewayGrammar.partial();

export type GatewayFile = z.output<typeof gatewayGrammar>;
export type GatewayParts = z.output<typeof gatewayPartsGrammar>;
