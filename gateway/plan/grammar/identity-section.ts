// The `identity` section of `config/gateway.yaml`: ways of knowing who calls, each under a name that policies use.
// A part of gateway-grammar.ts.
import { z } from 'zod';
import { scope } from '../../policy/authentication/section.ts';
import { parsePageUrl } from '../../policy/lifecycle/section.ts';
import { notation, parseClaimName, wholeSeconds } from '../../policy/notation.ts';
import { text } from './listeners-section.ts';
import { parseFieldName } from './message-sections.ts';

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

const tokens = z.strictObject({
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

/** Fields that mean something else to whoever reads them. */
const TAKEN =
  /^(?:authorization|cookie|host|date|via|te|trailer|upgrade|expect|connection|user-agent|x-request-id|(?:accept|content|transfer|proxy|sec|x-forwarded)-?.*)$/;

/** As written; a name with `_` would be dropped from every request (SMG-25). */
function parseKeyHeader(written: string): string | undefined {
  const name = parseFieldName(written);
  return name === undefined || TAKEN.test(name) ? undefined : written;
}

const keys = z.strictObject({
  header: notation(parseKeyHeader, 'not the name of a header that may carry keys, such as X-API-Key', {
    description: 'The header in which clients send an API key; no upstream sees it.',
    examples: ['X-API-Key'],
  }),
});

const certificate = z.strictObject({
  certificate: z.strictObject({
    consumer: z
      .enum(['cn', 'san_dns', 'san_uri', 'fingerprint'])
      .meta({ description: 'What of the certificate names the consumer; it must be there exactly once.' }),
    scopes: z
      .array(scope)
      .meta({ description: 'Scopes that every holder of a proven certificate has; none unless written.' })
      .optional(),
  }),
});

export const identitySection = z.union([tokens, keys, certificate]);
