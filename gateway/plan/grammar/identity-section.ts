// The grammar of `identity` in `config/gateway.yaml`: named ways to identify callers.
import { z } from 'zod';
import { scope } from '../../policy/authentication/scope.ts';
import { fieldMeaning, parseFieldName } from '../../policy/headers/field-name.ts';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
import {
  notation,
  parseClaimName,
  parseIdPrefix,
  parseWholeSeconds,
  wholeSeconds,
} from '../../policy/notation.ts';
import { text } from './listeners-section.ts';

const url = (description: string, example: string, mayHaveQuery = false) =>
  notation(
    (written) => {
      const barred = mayHaveQuery ? /#/ : /[?#]/;
      return parsePageUrl(written) === undefined || barred.test(written) ? undefined : written;
    },
    `not an https URL (no ${mayHaveQuery ? 'fragment' : 'query'}; http only on this machine)`,
    { description, examples: [example] },
  );

/** Asymmetric algorithms only: a key set publishes no shared secrets (JWT-1). */
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

const CLAIM = { description: 'A claim.' };

const consumer = z
  .array(notation(parseClaimName, 'not a claim that identifies the caller, such as client_id', CLAIM))
  .min(1)
  .meta({ description: 'Claims tried in order for the consumer; default client_id, azp, sub.' });

/** `off` becomes ''. */
const prefix = notation(
  parseIdPrefix,
  'not a prefix such as partner/: letters, digits, dots and hyphens, then / or :; or off',
  {
    description:
      'Prefix of the consumer ids of its tokens, to keep them apart from other issuers; off if ids are shared.',
    examples: ['partner/', 'off'],
  },
).optional();

/** Milliseconds. `off` becomes 0. */
const tokenCache = (longest: '5m' | '60s', description: string) => {
  const most = longest === '5m' ? 300_000 : 60_000;
  return notation(
    (written) => {
      const ms = written === 'off' ? 0 : parseWholeSeconds(written);
      return ms === undefined || ms > most ? undefined : ms;
    },
    `not a duration from 1s to ${longest}, nor off`,
    { description, examples: ['30s', 'off'] },
  ).optional();
};

const jwtSection = z.strictObject({
  issuer: url('The exact `iss` of its tokens.', 'https://auth.example.com'),
  audience: text('The `aud` that tokens for this gateway have.', ['api']),
  jwks: url(
    'URL of its keys; default: issuer + /.well-known/jwks.json.',
    'https://auth.example.com/keys',
  ).optional(),
  algorithms: z
    .array(algorithm)
    .min(1)
    .meta({ description: 'Accepted signature algorithms; default RS256, PS256, ES256, EdDSA.' })
    .optional(),
  consumer: consumer.optional(),
  prefix,
  max_lifetime: wholeSeconds('Longest time from iat to exp; default 1h.').optional(),
  types: z
    .array(text('A type.'))
    .min(1)
    .meta({ description: 'Accepted `typ` values, and none for tokens without it; default at+jwt.' })
    .optional(),
  profile: z
    .literal('rfc9068')
    .meta({
      description: 'Claims that tokens need: rfc9068 adds client_id and jti; default: sub, iat and exp.',
    })
    .optional(),
  token_cache: tokenCache(
    '5m',
    'How long a verified token is cached, never past its exp, or off. Default 5m.',
  ),
});

/** RFC 6749 appendix A.1 and A.2. */
const printable = (what: string, description: string, example: string) =>
  notation(
    (written) => (/^[\x20-\x7e]{1,1024}$/.test(written) ? written : undefined),
    `not ${what}: 1 to 1024 printable ASCII characters`,
    { description, examples: [example] },
  );

const introspectionSection = z.strictObject({
  introspection: url('Introspection endpoint (RFC 7662).', 'https://auth.example.com/introspect', true),
  client: z
    .strictObject({
      id: printable('the id of a client', 'The client id of this gateway at the endpoint.', 'sundial'),
      secret: printable('a client secret', 'Its secret.', `\${file:/run/secrets/introspection}`),
    })
    .meta({ description: 'Credentials of the gateway at this endpoint (client_secret_basic).' }),
  issuer: url(
    'Required `iss` of the response; JWTs of this issuer are introspected too.',
    'https://auth.example.com',
  ).optional(),
  audience: text('Required `aud` of the response; without it, any `aud` is accepted.', ['api']).optional(),
  consumer: consumer.optional(),
  prefix,
  token_cache: tokenCache(
    '60s',
    'How long an active token is cached, never past its exp, or off. Default 60s.',
  ),
});

/** As written. Names with `_` are refused, since the gateway drops such headers (SMG-25). */
function parseKeyHeader(written: string): string | undefined {
  const name = parseFieldName(written);
  return name === undefined || fieldMeaning(name) !== undefined ? undefined : written;
}

const keys = z.strictObject({
  header: notation(parseKeyHeader, 'not the name of a header that may carry keys, such as X-API-Key', {
    description: 'The header in which clients send an API key; no upstream sees it.',
    examples: ['X-API-Key'],
  }),
});

const certificate = z.strictObject({
  certificate: z
    .strictObject({
      consumer: z.enum(['cn', 'san_dns', 'san_uri', 'fingerprint']).meta({
        description: 'The part of the certificate that names the consumer; it must occur exactly once.',
      }),
      scopes: z
        .array(scope)
        .meta({ description: 'Scopes of every holder of a valid certificate. Without it, none.' })
        .optional(),
    })
    .meta({ description: 'How a client certificate names its consumer.' }),
});

export const identitySection = z.union([jwtSection, introspectionSection, keys, certificate]);
