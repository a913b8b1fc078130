// An issuer for tests on a real socket: key rotation, valid and invalid tokens, and a JWK set that can fail.
import { generateKeyPair, type KeyObject, sign as signBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { JWK } from 'jose';
import type { JwtIdentity } from '../../gateway/plan/settings.ts';

export interface TestIssuer {
  readonly url: string;
  readonly jwksUrl: string;
  /** Settings of an identity that trusts this issuer, with the audience of its tokens. */
  readonly settings: JwtIdentity;
  /**
   * Signs a token that is valid for an hour. `claims` and `header` override the defaults; undefined removes.
   * `header.alg` RS256 (default) or ES256 selects the key. A string is signed as it is, by RS256.
   */
  readonly sign: (
    claims?: Record<string, unknown> | string,
    header?: Record<string, unknown> | string,
  ) => Promise<string>;
  readonly publicKeys: () => readonly JWK[];
  /** Replaces all keys: new tokens use new keys, and the old keys leave the set. */
  readonly rotate: () => Promise<void>;
  readonly down: () => void;
  readonly up: () => void;
  /** `listener` answers in place of the key set until `up`. */
  readonly answerWith: (listener: RequestListener) => void;
  /** Requests for the key set so far, failed ones included. */
  readonly fetches: number;
  readonly close: () => Promise<void>;
}

/** `now`: epoch milliseconds for the times in claims; default: the system clock. */
export async function startTestIssuer(options: { readonly now?: () => number } = {}): Promise<TestIssuer> {
  const now = options.now ?? Date.now;
  const editions: (readonly Pair[])[] = [];
  const nextKeys = async () => {
    const pairs = spare.shift() ?? (await makePairs());
    return published(pairs, editions.push(pairs));
  };
  let keys = await nextKeys();
  let fetches = 0;
  const serveKeys: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/jwk-set+json' });
    response.end(JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) }));
  };
  let listener = serveKeys;
  const server = createServer((request, response) => {
    fetches += 1;
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const jwksUrl = `${url}/.well-known/jwks.json`;

  return {
    url,
    jwksUrl,
    settings: {
      kind: 'jwt',
      name: 'main',
      issuer: url,
      audience: 'sundial-samples',
      jwksUrl,
      algorithms: ['RS256', 'ES256'],
      consumerClaims: ['client_id', 'azp', 'sub'],
      maxLifetimeSeconds: 3600,
      tokenTypes: ['at+jwt', 'jwt'],
      tokenCacheMs: 300_000,
    },
    sign: async (claims = {}, header = {}) => {
      const wanted = typeof header === 'string' ? 'RS256' : (header.alg ?? 'RS256');
      const key = keys.find(({ alg }) => alg === wanted);
      if (key === undefined) throw new Error('the test issuer signs with RS256 and ES256');
      const iat = Math.floor(now() / 1000);
      const named = { iss: url, aud: 'sundial-samples', sub: 'acme', client_id: 'acme' };
      const good = {
        ...named,
        scope: 'orders:read orders:write',
        iat,
        exp: iat + 3600,
        jti: crypto.randomUUID(),
      };
      const input = [merge({ alg: key.alg, kid: key.kid, typ: 'at+jwt' }, header), merge(good, claims)]
        .map((text) => Buffer.from(text).toString('base64url'))
        .join('.');
      // ES256 signatures are two concatenated numbers (RFC 7518 §3.4), not DER.
      const signature = signBytes('sha256', Buffer.from(input), {
        key: key.privateKey,
        dsaEncoding: 'ieee-p1363',
      });
      return `${input}.${signature.toString('base64url')}`;
    },
    publicKeys: () => keys.map(({ publicJwk }) => publicJwk),
    rotate: async () => {
      keys = await nextKeys();
    },
    down: () => {
      listener = (request) => request.socket.destroy();
    },
    up: () => {
      listener = serveKeys;
    },
    answerWith: (other) => {
      listener = other;
    },
    get fetches() {
      return fetches;
    },
    close: () =>
      new Promise((resolve) => {
        spare.push(...editions.splice(0));
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function merge(good: object, over: object | string): string {
  return typeof over === 'string' ? over : JSON.stringify({ ...good, ...over });
}

interface Pair {
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Keys of closed issuers, reused because making keys is slow. Open issuers never share keys. */
const spare: (readonly Pair[])[] = [];

async function makePairs(): Promise<readonly Pair[]> {
  const make = promisify(generateKeyPair);
  return [
    { alg: 'RS256', ...(await make('rsa', { modulusLength: 2048 })) },
    { alg: 'ES256', ...(await make('ec', { namedCurve: 'P-256' })) },
  ];
}

const published = (pairs: readonly Pair[], edition: number) =>
  pairs.map(({ alg, privateKey, publicKey }) => {
    const kid = `${alg.toLowerCase()}-${edition}`;
    return {
      alg,
      kid,
      privateKey,
      publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' },
    };
  });
