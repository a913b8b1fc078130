// Plain @fastify/http-proxy: the same path rewrite and upstream, and no policy at all.
// The peer that shows what forwarding alone costs in these packages.
import httpProxy from '@fastify/http-proxy';
import { fastify, LogController } from 'fastify';
import { announcePort } from './children.ts';
import { setting } from './work.ts';

const app = fastify({ logController: new LogController({ disableRequestLogging: true }) });
await app.register(httpProxy, {
  upstream: setting('BENCH_UPSTREAM'),
  prefix: '/api/v1/orders',
  rewritePrefix: '/orders',
  undici: { connections: 128, pipelining: 1, keepAliveTimeout: 60_000 },
  retryMethods: [],
  disableRequestLogging: true,
});

await app.listen({ port: 0, host: '127.0.0.1' });
announcePort(app.server.address());
