// Hostile tokens by key: offered keys, kids, other issuers, no keys (JWT-3, JWT-4, RFC 8725 §3.10).
import { attacker, claims, type HostileToken, header, offeredJwk, PASS, T, unsigned } from './ways.ts';

export const KEYS: readonly HostileToken[] = [
  // Keys in the token itself (RFC 8725 §3.10, JWT-3).
  ['a key of its own', attacker({}), 401, 'signature'],
  ['a key of its own in jwk', attacker({ jwk: offeredJwk }), 401, 'signature'],
  ['a key of its own in jwk and no kid', attacker({ jwk: offeredJwk, kid: undefined }), 401, 'signature'],
  ['its own key at jku', attacker({ jku: 'http://127.0.0.1:1/keys' }), 401, 'signature'],
  [
    'its own key at jku, with another kid',
    attacker({ jku: 'http://127.0.0.1:1/keys', kid: 'mine' }),
    401,
    'key_unknown',
  ],
  ['its own key at x5u', attacker({ x5u: 'http://127.0.0.1:1/cert' }), 401, 'signature'],
  ['a key of its own in x5c', attacker({ x5c: ['MIIB'] }), 401, 'signature'],
  [
    'valid, with unused keys in the header',
    header({ jwk: offeredJwk, jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/', x5c: ['MIIB'] }),
    200,
    PASS,
  ],

  // kid: used only as the key of a map.
  ['kid unknown', header({ kid: 'rs256-9' }), 401, 'key_unknown'],
  ['kid empty', header({ kid: '' }), 401, 'key_unknown'],
  ['kid a path', header({ kid: '../../../../dev/null' }), 401, 'key_unknown'],
  ['kid SQL', header({ kid: "x' UNION SELECT 'key';--" }), 401, 'key_unknown'],
  ['kid a shell command', header({ kid: '|sleep 10' }), 401, 'key_unknown'],
  ['kid a URL', header({ kid: 'http://127.0.0.1:1/key' }), 401, 'key_unknown'],
  ['kid __proto__', header({ kid: '__proto__' }), 401, 'key_unknown'],
  ['kid constructor', header({ kid: 'constructor' }), 401, 'key_unknown'],
  ['kid in other case', header({ kid: 'RS256-1' }), 401, 'key_unknown'],
  ['kid with a trailing NUL', header({ kid: 'rs256-1\u0000' }), 401, 'key_unknown'],
  ['kid of 256 characters', header({ kid: 'k'.repeat(256) }), 401, 'key_unknown'],
  ['kid of 257 characters', header({ kid: 'k'.repeat(257) }), 401, 'malformed'],
  ['kid a number', header({ kid: 1 }), 401, 'malformed'],
  ['kid null', header({ kid: null }), 401, 'malformed'],
  ['kid a list', header({ kid: ['rs256-1'] }), 401, 'malformed'],

  // Several issuers on one API.
  ['both: of the first', claims({}), 200, PASS, 'both'],
  ['both: of the second', ({ partner }) => partner.sign(), 200, PASS, 'both'],
  [
    'both: iss of the second, keys of the first',
    ({ main, partner }) => main.sign({ iss: partner.url }),
    401,
    'key_unknown',
    'both',
  ],
  [
    'both: iss of the first, keys and kid of the second',
    ({ main, partner }) => partner.sign({ iss: main.url }),
    401,
    'key_unknown',
    'both',
  ],
  [
    'both: iss of the second, kid of the second, key of the first',
    ({ main, partner }) => main.sign({ iss: partner.url }, { kid: 'rs256-2' }),
    401,
    'signature',
    'both',
  ],
  [
    'both: iss of the first, no kid, key of the second',
    ({ main, partner }) => partner.sign({ iss: main.url }, { kid: undefined }),
    401,
    'signature',
    'both',
  ],
  ['both: iss of neither', claims({ iss: 'https://evil.example' }), 401, 'issuer', 'both'],
  ['both: no iss', claims({ iss: undefined }), 401, 'issuer', 'both'],
  [
    'both: both as iss',
    ({ main, partner }) => main.sign({ iss: [main.url, partner.url] }),
    401,
    'issuer',
    'both',
  ],
  ['both: no JWT', () => 'opaque', 401, 'malformed', 'both'],
  ['one: a token of the other', ({ partner }) => partner.sign(), 401, 'key_unknown'],
  [
    'one: a token of the other without kid',
    ({ partner }) => partner.sign({}, { kid: undefined }),
    401,
    'signature',
  ],

  // Without a key the gateway responds 503, except to tokens that are refused without any key.
  ['away: any token', claims({}), 503, 'identity_unavailable', 'away'],
  ['away: an expired token', claims({ exp: T - 60, iat: T - 120 }), 503, 'identity_unavailable', 'away'],
  ['away: alg none', unsigned('none', 'AA'), 401, 'algorithms', 'away'],
  ['away: no token', () => 'x', 401, 'malformed', 'away'],
];
