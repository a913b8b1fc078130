// The sample issuer as a server: its JWK set, and POST /token for the sample client.
// The gateway fetches the keys; people get tokens from here or from the token command.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadIssuerKey } from './key-file.ts';
import { signAccessToken, TOKEN_LIFETIME } from './sign.ts';
import { decideToken } from './token-endpoint.ts';

const MAX_FORM_BYTES = 8 * 1024;

export interface IssuerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Where the signing key is kept. */
  readonly dataFolder: string;
  /** Epoch milliseconds; default the system clock. */
  readonly now?: () => number;
}

export interface Issuer {
  readonly port: number;
  /** The `iss` of its tokens. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts the issuer on 127.0.0.1; rejects when the port is taken or the key cannot be read. */
export async function startIssuer(options: IssuerOptions): Promise<Issuer> {
  const key = await loadIssuerKey(options.dataFolder);
  const now = options.now ?? Date.now;
  const keySet = JSON.stringify({ keys: [key.publicJwk] });
  let url = '';

  const answerToken = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = await readForm(request);
    if (form === undefined) {
      response.setHeader('connection', 'close');
      sendJson(response, 400, oauthError('invalid_request', 'The body is not a short form'));
      return;
    }
    const decision = decideToken(form, request.headers.authorization);
    if (decision.kind === 'error') {
      if (decision.status === 401) response.setHeader('www-authenticate', 'Basic realm="sample issuer"');
      sendJson(response, decision.status, oauthError(decision.error, decision.description));
      return;
    }
    const { client, scopes } = decision;
    const token = await signAccessToken(key, { issuer: url, client, scopes, now: now() });
    const body = {
      access_token: token,
      token_type: 'Bearer',
      expires_in: TOKEN_LIFETIME,
      scope: scopes.join(' '),
    };
    sendJson(response, 200, JSON.stringify(body));
  };

  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/.well-known/jwks.json') {
      if (request.method !== 'GET' && request.method !== 'HEAD') return sendNotAllowed(response, 'GET, HEAD');
      response.writeHead(200, { 'content-type': 'application/jwk-set+json', 'cache-control': 'max-age=300' });
      response.end(keySet);
    } else if (path === '/token') {
      if (request.method !== 'POST') return sendNotAllowed(response, 'POST');
      answerToken(request, response).catch((error: unknown) => {
        if (!request.destroyed) console.error(error);
        response.destroy();
      });
    } else {
      sendJson(response, 404, oauthError('invalid_request', 'Nothing is here'));
    }
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function readForm(request: IncomingMessage): Promise<string | undefined> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MAX_FORM_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const oauthError = (error: string, description: string): string =>
  JSON.stringify({ error, error_description: description });

/** RFC 6749 §5.1: what holds tokens or speaks of them is not stored. */
function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(body);
}

function sendNotAllowed(response: ServerResponse, allow: string): void {
  response.setHeader('allow', allow);
  sendJson(response, 405, oauthError('invalid_request', 'The method is not offered here'));
}
