// Hostile tokens by algorithm, after valid tokens for comparison (JWT-1, RFC 8725 §3.1).
import { createPublicKey } from 'node:crypto';
import {
  claims,
  type HostileToken,
  header,
  headerText,
  json,
  keyed,
  PASS,
  spoilt,
  unsigned,
} from './ways.ts';

export const ALGORITHMS: readonly HostileToken[] = [
  // Valid tokens. They show that the other tokens fail only for their named flaw.
  ['good, RS256', claims({}), 200, PASS],
  ['good, ES256', header({ alg: 'ES256' }), 200, PASS],
  ['good, without kid', header({ kid: undefined }), 200, PASS],

  // Algorithms (RFC 8725 §3.1).
  ['alg none, empty signature', unsigned('none', ''), 401, 'malformed'],
  ['alg none, a signature', unsigned('none', 'AA'), 401, 'algorithms'],
  ['alg nOnE', unsigned('nOnE', 'AA'), 401, 'algorithms'],
  ['alg NONE', unsigned('NONE', 'AA'), 401, 'algorithms'],
  ['alg none with a space', unsigned('none ', 'AA'), 401, 'algorithms'],
  ['alg empty', unsigned('', 'AA'), 401, 'algorithms'],
  ['alg none under a good signature', header({ alg: undefined }), 401, 'malformed'],
  ['alg as a list', headerText(',"alg":["RS256"]'), 401, 'malformed'],
  [
    'alg as a number',
    ({ main }) => main.sign({}, '{"alg":1,"kid":"rs256-1","typ":"at+jwt"}'),
    401,
    'malformed',
  ],
  [
    'alg as a list of the right one',
    ({ main }) => main.sign({}, '{"alg":["RS256"],"typ":"at+jwt"}'),
    401,
    'malformed',
  ],
  ['alg in lower case', ({ main }) => main.sign({}, '{"alg":"rs256","typ":"at+jwt"}'), 401, 'algorithms'],
  ['alg __proto__', ({ main }) => main.sign({}, '{"alg":"__proto__","typ":"at+jwt"}'), 401, 'algorithms'],
  ['HS256 keyed with the public key as PEM', keyed((pem) => pem), 401, 'algorithms'],
  ['HS256 keyed with the PEM without its line end', keyed((pem) => pem.trimEnd()), 401, 'algorithms'],
  [
    'HS256 keyed with the public key as DER',
    keyed((pem) => createPublicKey(pem).export({ type: 'spki', format: 'der' })),
    401,
    'algorithms',
  ],
  ['HS256 keyed with the public key as JWK', keyed((_, jwk) => JSON.stringify(jwk)), 401, 'algorithms'],
  ['HS256 keyed with nothing', keyed(() => ''), 401, 'algorithms'],
  [
    'HS256 with an embedded symmetric jwk',
    keyed(() => 'k', { jwk: { kty: 'oct', k: 'aw' } }),
    401,
    'algorithms',
  ],
  [
    'PS256 with an RS256 signature',
    ({ main }) => main.sign({}, '{"alg":"PS256","typ":"at+jwt"}'),
    401,
    'algorithms',
  ],
  [
    'RS512 with an RS256 signature',
    ({ main }) => main.sign({}, '{"alg":"RS512","typ":"at+jwt"}'),
    401,
    'algorithms',
  ],
  [
    'RS256 with an ES256 signature',
    spoilt(
      (parts) =>
        `${json({ alg: 'RS256', kid: 'rs256-1', typ: 'at+jwt' })}.${parts.payload}.${parts.signature}`,
      'ES256',
    ),
    401,
    'signature',
  ],
  [
    'ES256 with an RS256 signature',
    ({ main }) => main.sign({}, '{"alg":"ES256","kid":"es256-1","typ":"at+jwt"}'),
    401,
    'signature',
  ],
  ['RS256 with the kid of the EC key', header({ kid: 'es256-1' }), 401, 'key_unknown'],
  ['ES256 with the kid of the RSA key', header({ alg: 'ES256', kid: 'rs256-1' }), 401, 'key_unknown'],
  [
    'ES256K',
    ({ main }) => main.sign({}, '{"alg":"ES256K","kid":"es256-1","typ":"at+jwt"}'),
    401,
    'algorithms',
  ],
];
