// The HTTP server of the sample issuer: routes below /auth, to oidc-provider or to the pages of login and consent.
import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { sendError } from '../service/answer.ts';
import { PAGE_HEADERS } from '../service/document.ts';
import { listen, type Service } from '../service/listen.ts';
import { MOUNT } from './environment.ts';
import { createInteractions, type InteractionHandler } from './interaction.ts';
import { loadIssuerKeys } from './key-file.ts';
import { createProvider } from './provider.ts';
import { routeOf } from './routes.ts';
import { openStore } from './store.ts';

export interface IssuerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly dataFolder: string;
  /** The `iss` of its tokens, ending in /auth: its URL at the gateway, not its own port. */
  readonly issuer: string;
  /** Epoch milliseconds, for limits and the store; default: the system clock. */
  readonly now?: () => number;
}

export interface Issuer extends Service {
  readonly issuer: string;
  /** Its URL on its own port. */
  readonly endpoint: string;
}

/** Listens on 127.0.0.1. Rejects if the port is taken, the key cannot be read or the store cannot be opened. */
export async function startIssuer(options: IssuerOptions): Promise<Issuer> {
  const { port, dataFolder, issuer, now = () => Date.now() } = options;
  const keys = await loadIssuerKeys(dataFolder);
  const store = openStore(dataFolder);
  const cookieKeys = [store.secret('cookies', () => randomBytes(32).toString('base64url'))];
  const provider = createProvider({ issuer, keys, store, cookieKeys, now });
  const service = await listen(answerAs(issuer, provider.callback(), createInteractions(provider, now)), {
    port,
  }).catch((error: unknown) => {
    store.close();
    throw error;
  });
  return {
    ...service,
    issuer,
    endpoint: `${service.url}${MOUNT}`,
    close: () => service.close().finally(() => store.close()),
  };
}

function answerAs(issuer: string, callback: RequestListener, interact: InteractionHandler): RequestListener {
  const { host, protocol } = new URL(issuer);
  return (request, response) => {
    const original = request.url ?? '';
    const [path = ''] = original.split('?', 1);
    const route = path.startsWith(`${MOUNT}/`) ? routeOf(path.slice(MOUNT.length)) : undefined;
    if (route === undefined) return sendError(response, 404, 'There is no such resource');
    if (!route.methods.includes(request.method ?? '')) {
      const allow = { Allow: route.methods.join(', ') };
      return sendError(response, 405, `${request.method} is not supported here`, allow);
    }
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
    response.setHeader('Content-Security-Policy', "frame-ancestors 'none'");
    // The library builds links from these headers. They get the issuer's own name, whatever the request says.
    Object.assign(request.headers, {
      host,
      'x-forwarded-host': host,
      'x-forwarded-proto': protocol.slice(0, -1),
    });
    if (route.kind === 'interaction') {
      interact(request, response).catch((error: unknown) => fail(request, response, error));
      return;
    }
    // The library compares the two URLs to find its mount, as it would below a router.
    Object.assign(request, { originalUrl: original, url: original.slice(MOUNT.length) });
    callback(request, response);
  };
}

function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // The client disconnected while sending its form.
  if (request.destroyed && !request.complete) return;
  const requestId = randomUUID();
  process.stderr.write(
    `identity: ${requestId} ${error instanceof Error ? (error.stack ?? error.message) : error}\n`,
  );
  if (response.headersSent) response.destroy();
  else sendError(response, 500, 'The service failed', {}, { requestId });
}
