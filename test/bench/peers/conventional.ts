// The conventional peer: the same packages and policy, composed the usual way, with every step per request.
import replyFrom from '@fastify/reply-from';
import { type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import { Redis } from 'ioredis';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { announcePort } from '../children.ts';
import { AUDIENCE, SCOPE } from '../issuer.ts';
import { setting } from '../work.ts';
import {
  createGuard,
  createLimiter,
  type Limit,
  lifecycleHeaders,
  limits,
  quotaHeaders,
  type Stage,
  stageOf,
  type Taken,
  type Version,
  versions,
} from './conventional-policy.ts';
import { createTelemetry } from './conventional-telemetry.ts';

interface Known {
  version?: Version;
  stage?: Stage;
  consumer?: string;
  limit?: Limit;
  taken?: Taken;
}

declare module 'fastify' {
  interface FastifyRequest {
    known: Known;
  }
}

const issuer = setting('BENCH_ISSUER');
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));
const redis = new Redis(setting('BENCH_STORE'));
const take = createLimiter(redis);
const guard = createGuard(60_000_000, 60_000);
const telemetry = createTelemetry();

const app = fastify({
  logController: new LogController({ disableRequestLogging: true }),
  genReqId: () => crypto.randomUUID(),
});
app.decorateRequest('known');
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
await app.register(replyFrom, {
  base: setting('BENCH_UPSTREAM'),
  undici: { connections: 128, pipelining: 1, keepAliveTimeout: 60_000 },
  retryMethods: [],
  disableRequestLogging: true,
});

app.addHook('onRequest', async (request, reply) => {
  request.known = {};
  if (!guard(request.ip, Date.now())) return refuse(reply, 429, 'Too many requests from this address');
  if ('access_token' in (request.query as object))
    return refuse(reply, 400, 'A token has no place in the URL');
});

app.addHook('onResponse', async (request, reply) => {
  telemetry.answered({
    requestId: request.id,
    method: request.method,
    path: request.url.split('?', 1)[0] ?? '',
    status: reply.statusCode,
    seconds: reply.elapsedTime / 1000,
    address: request.ip,
    version: request.known.version?.label ?? '',
    stage: request.known.stage ?? '',
    consumer: request.known.consumer ?? '',
    carrier: 'path',
  });
});

app.get('/metrics', async (_request, reply) => {
  return reply.type(telemetry.registry.contentType).send(await telemetry.registry.metrics());
});

app.all('/api/:version/orders/*', { preHandler: [resolve, authenticate, limit] }, forward);

async function resolve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const { version: label } = request.params as { version: string };
  const version = versions[label];
  if (version === undefined) return refuse(reply, 404, `There is no version ${label}`);
  request.known.version = version;
  request.known.stage = stageOf(version, Date.now());
  if (request.known.stage === 'sunset') return refuse(reply, 410, `Version ${label} has been retired`);
}

async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const token = /^Bearer +([\w.-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) {
    reply.header('www-authenticate', 'Bearer realm="api"');
    return refuse(reply, 401, 'An access token is required');
  }
  let claims: JWTPayload;
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: AUDIENCE,
      algorithms: ['RS256', 'ES256'],
      typ: 'at+jwt',
      requiredClaims: ['exp', 'iat', 'sub'],
      maxTokenAge: '1h',
      clockTolerance: 30,
    });
    claims = payload;
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    reply.header('www-authenticate', 'Bearer realm="api", error="invalid_token"');
    return refuse(reply, 401, 'The access token is not valid');
  }
  if (!String(claims.scope).split(' ').includes(SCOPE)) return refuse(reply, 403, 'The token lacks a scope');
  request.known.consumer = String(claims.client_id ?? claims.sub);
}

async function limit(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const { known } = request;
  const applied = known.stage === 'deprecated' ? limits.deprecated : limits.active;
  const taken = await take(`orders:${known.version?.label}:${applied.name}:${known.consumer}`, applied);
  known.limit = applied;
  known.taken = taken;
  if (!taken.allowed) {
    reply.header('retry-after', Math.max(1, taken.seconds));
    return refuse(reply, 429, 'Too many requests');
  }
}

function forward(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { '*': rest } = request.params as { '*': string };
  return reply.from(`/orders/${rest}`, {
    rewriteRequestHeaders: (_raw, headers) => ({
      ...headers,
      'api-version': request.known.version?.label ?? '',
      'x-request-id': request.id,
      'x-forwarded-for': request.ip,
      'x-forwarded-proto': request.protocol,
      'x-forwarded-host': request.host,
      via: '1.1 gateway',
    }),
    rewriteHeaders: (headers) => ({ ...headers, ...policyHeaders(request, `/${rest}`) }),
  });
}

function policyHeaders(request: FastifyRequest, tail: string): Record<string, string> {
  const { version, limit: applied, taken } = request.known;
  return {
    ...(version === undefined ? {} : lifecycleHeaders(version, tail, Date.now())),
    ...(applied !== undefined && taken !== undefined ? quotaHeaders(applied, taken) : {}),
    'x-request-id': request.id,
  };
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).header('x-request-id', reply.request.id).send({ error: status, message });
}

await app.listen({ port: 0, host: '127.0.0.1' });
announcePort(app.server.address());
