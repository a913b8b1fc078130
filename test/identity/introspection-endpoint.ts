// A scriptable introspection endpoint (RFC 7662), and verifiers with a clock that the test sets.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createIntrospectionVerifier,
  type IntrospectionOptions,
} from '../../gateway/identity/introspection-verifier.ts';
import type { IdentityVerifier } from '../../gateway/identity/token-cache.ts';
import type { IntrospectionIdentity } from '../../gateway/plan/settings.ts';

export const SECOND = 1000;
export const START = Date.parse('2026-11-21T08:00:00Z');
const SECRET = 'canary: pâss+word';

export interface Asked {
  readonly method: string | undefined;
  readonly type: string | undefined;
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

export type Answering = (form: Asked['form'], response: ServerResponse, request: IncomingMessage) => unknown;

export interface IntrospectionEndpoint extends AsyncDisposable {
  /** The response to each request. Initially: the token is active. */
  answer: Answering;
  asked: Asked[];
  /** The clock of its verifiers. */
  now: number;
  /** The reports of the verifiers: a failure, or undefined once it is over. */
  readonly told: readonly (string | undefined)[];
  readonly verifierOf: (
    settings?: Partial<IntrospectionIdentity>,
    options?: Partial<IntrospectionOptions>,
  ) => IdentityVerifier;
  readonly closeIdleConnections: () => void;
  /** Restores the first state and closes the verifiers. */
  readonly reset: () => void;
}

export const good = () => ({
  active: true,
  client_id: 'acme',
  scope: 'orders:read orders:write',
  iss: 'https://auth.example.com',
  aud: 'api',
  token_type: 'Bearer',
  exp: START / SECOND + 600,
});

/** The valid response with changes. Undefined removes a member. */
export const says = (changes: Readonly<Record<string, unknown>>) => (_: unknown, response: ServerResponse) =>
  response.end(JSON.stringify({ ...good(), ...changes }));

export const kindOf = async (verifier: IdentityVerifier, token: string) =>
  (await verifier.verify(token)).kind;

export async function openEndpoint(): Promise<IntrospectionEndpoint> {
  const open: IdentityVerifier[] = [];
  const told: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      const { 'content-type': type, authorization } = request.headers;
      endpoint.asked.push({ method: request.method, type, authorization, form });
      endpoint.answer(form, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint: IntrospectionEndpoint = {
    answer: says({}),
    asked: [],
    now: START,
    told,
    verifierOf: (settings = {}, options = {}) => {
      const verifier = createIntrospectionVerifier(
        {
          kind: 'introspection',
          name: 'opaque',
          endpoint: `http://127.0.0.1:${port}/introspect?tenant=1`,
          client: { id: 'sun:dial', secret: SECRET },
          issuer: 'https://auth.example.com',
          audience: 'api',
          consumerClaims: ['client_id', 'azp', 'sub'],
          tokenCacheMs: 60 * SECOND,
          ...settings,
        },
        { now: () => endpoint.now, report: (failure) => told.push(failure), ...options },
      );
      open.push(verifier);
      return verifier;
    },
    closeIdleConnections: () => server.closeIdleConnections(),
    reset: () => {
      for (const verifier of open.splice(0)) verifier.close();
      told.length = 0;
      Object.assign(endpoint, { answer: says({}), asked: [], now: START });
    },
    [Symbol.asyncDispose]: async () => {
      endpoint.reset();
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  return endpoint;
}
