// The issuer of the bench: RS256 and ES256 keys, their JWKS, and access tokens. It is idle during load.
import { createServer } from 'node:http';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { portOf } from './children.ts';
import { CONSUMERS } from './work.ts';

export const AUDIENCE = 'orders-api';
export const SCOPE = 'orders:read';

export type Algorithm = 'RS256' | 'ES256';

export interface BenchIssuer {
  /** Also the `iss` of every token. */
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Distinct access tokens, valid for an hour, for 50 consumers in turn. */
  readonly tokens: (count: number, algorithm?: Algorithm) => Promise<readonly string[]>;
  /** PEM, for a peer that reads no JWKS. */
  readonly publicKey: (algorithm: Algorithm) => Promise<string>;
  readonly stop: () => void;
}

export async function startIssuer({ audience = AUDIENCE } = {}): Promise<BenchIssuer> {
  const pairs = {
    RS256: await generateKeyPair('RS256', { modulusLength: 2048 }),
    ES256: await generateKeyPair('ES256'),
  };
  const keys = await Promise.all(
    (['RS256', 'ES256'] as const).map(async (alg) => ({
      ...(await exportJWK(pairs[alg].publicKey)),
      ...{ kid: `bench-${alg}`, alg, use: 'sig' },
    })),
  );
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${portOf(server.address())}`;

  const token = (consumer: string, alg: Algorithm): Promise<string> =>
    new SignJWT({ client_id: consumer, scope: `${SCOPE} profile` })
      .setProtectedHeader({ alg, kid: `bench-${alg}`, typ: 'at+jwt' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(consumer)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(pairs[alg].privateKey);

  return {
    issuer,
    jwksUrl: `${issuer}/.well-known/jwks.json`,
    tokens: (count, algorithm = 'RS256') =>
      Promise.all(
        Array.from({ length: count }, (_, at) =>
          token(`consumer-${String(at % CONSUMERS).padStart(2, '0')}`, algorithm),
        ),
      ),
    publicKey: (algorithm) => exportSPKI(pairs[algorithm].publicKey),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
