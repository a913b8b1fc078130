// The admin listener: metrics and health, on an address of its own that no public request can reach.
// Answers stand in the gateway's error shape; no CORS, and a Host check against DNS rebinding.
import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Address } from '../plan/settings.ts';
import type { Metrics } from '../telemetry/telemetry.ts';
import { type AdminAnswer, errorAnswer, jsonAnswer, malformedAnswer, rawAnswer } from './answers.ts';
import { isOwnHost } from './own-host.ts';
import { type Readiness, readinessAnswer } from './readiness.ts';

export interface AdminListenerOptions {
  readonly address: Address;
  readonly metrics: Pick<Metrics, 'render'>;
  readonly readiness: () => Readiness;
  /** Told of whatever made an answer fail. */
  readonly onError: (error: unknown) => void;
}

export interface AdminListener {
  /** As bound: the port is the real one when 0 was asked for. */
  readonly address: { readonly host: string; readonly port: number };
  /** Closes at once: a scrape under way is cut off, the next one meets a closed port. */
  readonly close: () => Promise<void>;
}

const REQUEST_TIMEOUT_MS = 10_000;
const EVERY_IPV6_AND_IPV4 = '::';
const EVERY_IPV4 = '0.0.0.0';

type Page = () => AdminAnswer | Promise<AdminAnswer>;

/** @throws the system's error when the address cannot be bound */
export async function createAdminListener(options: AdminListenerOptions): Promise<AdminListener> {
  const { address, onError } = options;
  const pages = pagesOf(options);
  const app = fastify({
    forceCloseConnections: true,
    genReqId: () => randomUUID(),
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1000 },
    frameworkErrors: (_error, _request, reply) =>
      send(reply, errorAnswer(400, 'The request target cannot be read.')),
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(rawAnswer(malformedAnswer(error.code)));
      else socket.destroy();
    },
  });

  // Judged before routing and before any body is read, so that a refusal costs nothing.
  app.addHook('onRequest', (request, reply, done) => {
    const refusal = refuse(pages, address.host, request.headers.host, request.method, request.url);
    if (refusal === undefined) done();
    else send(reply, refusal);
  });
  for (const [path, page] of pages) app.get(path, async (_request, reply) => send(reply, await page()));
  app.setNotFoundHandler((_request, reply) => send(reply, unknownPage()));
  app.setErrorHandler((error, request, reply) => {
    onError(error);
    return send(reply, errorAnswer(500, 'The page could not be made.', { requestId: request.id }));
  });

  await listen(app, address);
  return { address: boundAddress(app), close: () => app.close() };
}

function pagesOf({ metrics, readiness }: AdminListenerOptions): ReadonlyMap<string, Page> {
  // Liveness asks nothing of anyone: a lost store or issuer is no reason to restart the process.
  const healthy: Page = () => jsonAnswer(200, { status: 'healthy' });
  const ready: Page = () => readinessAnswer(readiness());
  return new Map<string, Page>([
    ['/metrics', async () => ({ status: 200, headers: {}, ...(await metrics.render()) })],
    ['/-/healthy', healthy],
    ['/healthz', healthy],
    ['/-/ready', ready],
    ['/readyz', ready],
  ]);
}

function refuse(
  pages: ReadonlyMap<string, Page>,
  boundHost: string | undefined,
  host: string | undefined,
  method: string,
  url: string,
): AdminAnswer | undefined {
  if (!isOwnHost(host, boundHost))
    return errorAnswer(421, 'This listener answers only under its own address.');
  const query = url.indexOf('?');
  if (!pages.has(query === -1 ? url : url.slice(0, query))) return unknownPage();
  if (method === 'GET' || method === 'HEAD') return undefined;
  return { ...errorAnswer(405, 'This page can only be read.'), headers: { allow: 'GET, HEAD' } };
}

function unknownPage(): AdminAnswer {
  return errorAnswer(404, 'There is no such page. Pages: /metrics, /-/healthy, /-/ready.');
}

function send(reply: FastifyReply, answer: AdminAnswer): FastifyReply {
  return reply
    .code(answer.status)
    .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...answer.headers })
    .header('content-type', answer.contentType)
    .send(answer.body);
}

async function listen(app: FastifyInstance, { host, port }: Address): Promise<void> {
  if (host !== undefined) {
    await app.listen({ host, port });
    return;
  }
  try {
    await app.listen({ host: EVERY_IPV6_AND_IPV4, port });
  } catch (error) {
    const withoutIpv6 = error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT';
    if (!withoutIpv6) throw error;
    await app.listen({ host: EVERY_IPV4, port });
  }
}

function boundAddress(app: FastifyInstance): AdminListener['address'] {
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the admin listener has no address');
  return { host: bound.address, port: bound.port };
}
