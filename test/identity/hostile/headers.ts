// Hostile tokens by the rest of their header, and JWTs of other kinds (JWT-1, JWT-5).
import {
  attacker,
  base64url,
  claims,
  type HostileToken,
  header,
  headerText,
  headerWith,
  offeredJwk,
  PASS,
  spoilt,
} from './ways.ts';

export const HEADERS: readonly HostileToken[] = [
  // Header.
  ['typ missing', header({ typ: undefined }), 401, 'types'],
  ['typ JWT, which is not configured', header({ typ: 'JWT' }), 401, 'types'],
  ['typ with its media type', header({ typ: 'application/at+jwt' }), 200, PASS],
  ['typ in upper case', header({ typ: 'AT+JWT' }), 200, PASS],
  ['typ with a parameter', header({ typ: 'at+jwt;v=1' }), 401, 'types'],
  ['typ with a space', header({ typ: 'at+jwt ' }), 401, 'types'],
  ['typ empty', header({ typ: '' }), 401, 'types'],
  ['typ a number', header({ typ: 1 }), 401, 'malformed'],
  ['typ a list', header({ typ: ['at+jwt'] }), 401, 'malformed'],
  ['typ logout+jwt', header({ typ: 'logout+jwt' }), 401, 'types'],
  ['typ secevent+jwt', header({ typ: 'secevent+jwt' }), 401, 'types'],
  ['typ token-introspection+jwt', header({ typ: 'token-introspection+jwt' }), 401, 'types'],
  ['crit with an unknown extension', header({ crit: ['x'], x: 1 }), 401, 'malformed'],
  ['crit empty', header({ crit: [] }), 401, 'malformed'],
  ['crit with a known member', header({ crit: ['alg'] }), 401, 'malformed'],
  ['crit null', header({ crit: null }), 401, 'malformed'],
  ['b64 false', header({ b64: false }), 401, 'malformed'],
  ['b64 false and critical', header({ b64: false, crit: ['b64'] }), 401, 'malformed'],
  ['b64 true and critical', header({ b64: true, crit: ['b64'] }), 401, 'malformed'],
  ['alg twice', headerText(',"alg":"RS256"'), 401, 'malformed'],
  ['kid twice', headerText(',"kid":"rs256-9"'), 401, 'malformed'],
  ['alg twice, once with an escape', headerText(',"\\u0061lg":"none"'), 401, 'malformed'],
  ['a member __proto__', headerText(',"__proto__":{"alg":"none"}'), 200, PASS],
  [
    'a byte order mark before the header',
    ({ main }) => main.sign({}, '\uFEFF{"alg":"RS256","typ":"at+jwt"}'),
    401,
    'malformed',
  ],
  ['a header that is a list', ({ main }) => main.sign({}, '["RS256"]'), 401, 'malformed'],
  ['a header that is null', ({ main }) => main.sign({}, 'null'), 401, 'malformed'],
  ['a header with an extra comma', headerText(','), 401, 'malformed'],
  [
    'a header that is not UTF-8',
    spoilt(
      (parts) =>
        `${base64url(Buffer.from('{"alg":"RS256\xff"}', 'latin1'))}.${parts.payload}.${parts.signature}`,
    ),
    401,
    'malformed',
  ],
  [
    'a header in UTF-16',
    spoilt(
      (parts) =>
        `${base64url(Buffer.from('{"alg":"RS256"}', 'utf16le'))}.${parts.payload}.${parts.signature}`,
    ),
    401,
    'malformed',
  ],

  // Other kinds of JWT (JWT-5).
  [
    'a nested JWT',
    async ({ main }) => main.sign(await main.sign(), headerWith(',"cty":"JWT"')),
    401,
    'malformed',
  ],
  ['an ID token', claims({ nonce: 'n', aud: 'acme' }, { typ: 'JWT' }), 401, 'types'],
  ['an ID token for our audience and of our type', claims({ nonce: 'n-0S6_WzA2Mj' }), 401, 'claims'],
  ['at_hash', claims({ at_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' }), 401, 'claims'],
  ['c_hash', claims({ c_hash: 'x' }), 401, 'claims'],
  ['s_hash', claims({ s_hash: 'x' }), 401, 'claims'],
  [
    'a logout token',
    claims({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }),
    401,
    'claims',
  ],
  [
    'a DPoP proof',
    attacker(
      { typ: 'dpop+jwt', jwk: offeredJwk, kid: undefined },
      { htm: 'GET', htu: 'https://api.example.com/' },
    ),
    401,
    'signature',
  ],
  [
    'a DPoP proof, signed by the issuer',
    claims({ htm: 'GET', htu: 'https://api.example.com/' }, { typ: 'dpop+jwt' }),
    401,
    'types',
  ],
  [
    'a client assertion',
    claims({ iss: 'acme', aud: 'https://auth.example.com/token' }, { typ: 'client-authentication+jwt' }),
    401,
    'types',
  ],
];
