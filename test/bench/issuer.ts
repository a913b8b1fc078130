// The bench's own issuer: one RS256 key, its JWKS over loopback, and access tokens for a number of consumers.
// Lives in the runner's process, which is idle while load runs.
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { portOf } from './children.ts';

export const AUDIENCE = 'orders-api';
export const SCOPE = 'orders:read';

export interface BenchIssuer {
  /** Also the `iss` of every token. */
  readonly issuer: string;
  readonly jwksUrl: string;
  /** One access token per consumer, valid for an hour. */
  readonly tokens: (consumers: number) => Promise<readonly string[]>;
  readonly stop: () => void;
}

export async function startIssuer({ audience = AUDIENCE } = {}): Promise<BenchIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { modulusLength: 2048 });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${portOf(server.address())}`;

  const token = (consumer: string): Promise<string> =>
    new SignJWT({ client_id: consumer, scope: `${SCOPE} profile` })
      .setProtectedHeader({ alg: 'RS256', kid: 'bench', typ: 'at+jwt' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(consumer)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);

  return {
    issuer,
    jwksUrl: `${issuer}/.well-known/jwks.json`,
    tokens: (consumers) =>
      Promise.all(
        Array.from({ length: consumers }, (_, at) => token(`consumer-${String(at).padStart(2, '0')}`)),
      ),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
