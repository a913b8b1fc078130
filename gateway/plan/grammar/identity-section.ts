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
    `not an https URL without ${mayHaveQuery ? 'fragment' : 'query'}; http is for this machine only`,
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
  .array(notation(parseClaimName, 'not the name of a claim about who calls, such as client_id', CLAIM))
  .min(1)
  .meta({ description: 'Claims tried in order for the consumer; default client_id, azp, sub.' });

/** `off` becomes ''. */
const prefix = notation(
  parseIdPrefix,
  'not a prefix such as partner/: letters, digits, dots and hyphens with / or : behind them, or off',
  {
    description:
      'Put before every consumer of its tokens, so that none is taken for one of another issuer; off where ids are meant to be shared.',
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
  audience: text('The `aud` that means this gateway.', ['api']),
  jwks: url(
    'Where its keys are; default: issuer + /.well-known/jwks.json.',
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
      description:
        'Tokens must name client_id and jti too, as RFC 9068 has it; default: sub, iat and exp do.',
    })
    .optional(),
  token_cache: tokenCache(
    '5m',
    'How long a verified token is taken again without a look at its signature, never past its exp, or off. Default 5m.',
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
  introspection: url(
    'Where it is asked whether a token is active (RFC 7662).',
    'https://auth.example.com/introspect',
    true,
  ),
  client: z
    .strictObject({
      id: printable('the id of a client', 'The client id of this gateway there.', 'sundial'),
      secret: printable('a client secret', 'Its secret.', `\${file:/run/secrets/introspection}`),
    })
    .meta({ description: 'How the gateway shows there who it is (client_secret_basic).' }),
  issuer: url(
    'The exact `iss` that the answer has to have; also claims the JWTs of this issuer.',
    'https://auth.example.com',
  ).optional(),
  audience: text('What has to stand in `aud` of the answer; without it no `aud` is asked for.', [
    'api',
  ]).optional(),
  consumer: consumer.optional(),
  prefix,
  token_cache: tokenCache(
    '60s',
    'How long an active token is taken again without asking, never past its exp, or off. Default 60s.',
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
      consumer: z
        .enum(['cn', 'san_dns', 'san_uri', 'fingerprint'])
        .meta({ description: 'What of the certificate names the consumer; it must be there exactly once.' }),
      scopes: z
        .array(scope)
        .meta({ description: 'Scopes that every holder of a proven certificate has; none unless written.' })
        .optional(),
    })
    .meta({ description: 'How a client certificate names its consumer.' }),
});

export const identitySection = z.union([jwtSection, introspectionSection, keys, certificate]);
