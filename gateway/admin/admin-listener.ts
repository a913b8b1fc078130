// The admin listener: serves health, metrics and the admin API on an address of its own.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import type { Address } from '../plan/settings.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import { isLoopback } from '../policy/notation.ts';
import type { AdminWriteOutcome, AuditTrail } from '../telemetry/logs/logger.ts';
import { decideAccess, type MatchedRoute } from './access.ts';
import {
  type AdminAnswer,
  errorAnswer,
  malformedAnswer,
  orNotModified,
  rawAnswer,
  storeUnavailable,
} from './answers.ts';
import type { AdminRoute, AdminWriteResult } from './route.ts';
import { createTokenCheck } from './token.ts';

export interface AdminListenerOptions {
  readonly address: Address;
  /** Routes that are not open need it: writes always, pages off loopback. Undefined: no token is accepted. */
  readonly token: string | undefined;
  /** Accepts any Host. Default: only names that can be this listener's own. */
  readonly anyHost?: boolean;
  readonly routes: readonly AdminRoute[];
  /** Sent to browsers at an unknown path. Default: the error body. */
  readonly notFound?: AdminAnswer;
  readonly hasSession?: (cookie: string | undefined) => boolean;
  readonly audit: AuditTrail;
  readonly onError: (error: unknown) => void;
}

export interface AdminListener {
  /** The bound address. Port 0 is replaced by the actual port. */
  readonly address: { readonly host: string; readonly port: number };
  /** Closes at once: aborts running requests and refuses new connections. */
  readonly close: () => Promise<void>;
}

const REQUEST_TIMEOUT_MS = 10_000;
const EVERY_IPV6_AND_IPV4 = '::';
const EVERY_IPV4 = '0.0.0.0';

/** Replaces Fastify's schema compilers, which take a tenth of the start-up time and have nothing to compile. */
function noSchemas(): never {
  throw new Error('no route has a schema');
}

/** @throws the system error if the address cannot be bound */
export async function createAdminListener(options: AdminListenerOptions): Promise<AdminListener> {
  const { address, routes, audit, onError } = options;
  const rules = {
    routes,
    notFound: options.notFound,
    boundHost: address.host,
    exposed: isExposed(address),
    anyHost: options.anyHost ?? false,
    hasSession: options.hasSession ?? (() => false),
    hasToken: options.token === undefined ? () => false : createTokenCheck(options.token),
  };
  /** Keeps the client address, which is unknown once the connection has closed. */
  const matches = new WeakMap<FastifyRequest, MatchedRoute & { readonly from: string }>();
  const app = fastify({
    forceCloseConnections: true,
    genReqId: () => randomUUID(),
    requestTimeout: REQUEST_TIMEOUT_MS,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1000 },
    frameworkErrors: (_error, _request, reply) =>
      send(reply, errorAnswer(400, 'The request target is malformed.')),
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(rawAnswer(malformedAnswer(error.code)));
      else socket.destroy();
    },
  });
  takeJsonOnly(app);

  const finish = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: AdminAnswer,
    details: AdminWriteResult['audit'] = {},
  ): FastifyReply => {
    const match = matches.get(request);
    if (match !== undefined && match.route.method !== 'GET') {
      audit(outcomeOf(answer.status), { action: match.route.action, from: match.from, ...details });
    }
    return send(reply, answer);
  };

  app.addHook('onRequest', (request, reply, done) => {
    const { method = '', url = '', headers, headersDistinct } = request.raw;
    const entry = decideAccess(rules, { method, url, hosts: headersDistinct.host?.length ?? 0, headers });
    if (entry.match !== undefined) matches.set(request, { ...entry.match, from: request.ip });
    if (entry.kind === 'admitted') done();
    else finish(request, reply, entry.answer);
  });
  app.all('*', async (request, reply) => {
    const match = matches.get(request);
    if (match === undefined) throw new Error('a request was admitted to no route');
    const { route, parameters } = match;
    const { url = '', headers } = request.raw;
    const adminRequest = {
      parameter: (name: string) => parameters.get(name) ?? '',
      query: new URLSearchParams(url.split('?', 2)[1] ?? ''),
      accept: headers.accept,
      cookie: headers.cookie,
      body: request.body,
    };
    if (route.method === 'GET')
      return send(reply, orNotModified(await route.show(adminRequest), headers['if-none-match']));
    const { answer, audit: details } = await route.perform(adminRequest);
    return finish(request, reply, answer, details);
  });
  app.setErrorHandler((error, request, reply) => {
    const wrote = matches.get(request)?.route.method !== 'GET';
    const refusal = error instanceof StoreUnavailable ? storeUnavailable({ wrote }) : bodyRefusal(error);
    if (refusal !== undefined) return finish(request, reply, refusal);
    onError(error);
    const failed = errorAnswer(500, 'An unexpected error. The log has its cause.', { requestId: request.id });
    return finish(request, reply, failed);
  });

  await listen(app, address);
  return { address: boundAddress(app), close: () => app.close() };
}

export function isExposed({ host }: Address): boolean {
  return host === undefined || !isLoopback(host);
}

function outcomeOf(status: number): AdminWriteOutcome {
  if (status < 300) return 'done';
  if (status === 401 || status === 403) return 'unauthorised';
  if (status === 503) return 'unavailable';
  return status === 500 ? 'failed' : 'refused';
}

const OF_EVERY_ANSWER = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};

function send(reply: FastifyReply, answer: AdminAnswer): FastifyReply {
  const { status, contentType, headers, body } = answer;
  reply.code(status).headers({ ...OF_EVERY_ANSWER, ...headers });
  // No Content-Length: it would have to be that of the 200 (RFC 9110 section 8.6).
  if (status === 304) return reply.send();
  return reply.header('content-type', contentType).send(body);
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

const MAX_BODY_BYTES = 64 * 1024;

class BodyUnreadable extends Error {}

/** Accepts JSON only: an HTML form of another site cannot send this media type. */
function takeJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
    async (_request: unknown, bytes: Buffer): Promise<unknown> => parseJson(bytes),
  );
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new BodyUnreadable('not JSON', { cause: error });
  }
}

/** Undefined if `error` is not about the body. */
function bodyRefusal(error: unknown): AdminAnswer | undefined {
  if (error instanceof BodyUnreadable) return errorAnswer(400, 'The body is not JSON in UTF-8.');
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return errorAnswer(415, 'Send the body as Content-Type: application/json.');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return errorAnswer(413, `The body may have at most ${MAX_BODY_BYTES / 1024} KiB.`);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    // The client disconnected: only the audit trail gets this response.
    case 'ECONNRESET':
      return errorAnswer(400, 'The length of the body differs from Content-Length.');
    default:
      return undefined;
  }
}
