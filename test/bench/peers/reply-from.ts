// Fastify with @fastify/reply-from: the same path rewrite and upstream, no policy and no log.
import replyFrom from '@fastify/reply-from';
import { fastify, LogController } from 'fastify';
import { announcePort } from '../children.ts';
import { setting } from '../work.ts';

const app = fastify({ logController: new LogController({ disableRequestLogging: true }) });
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
await app.register(replyFrom, {
  base: setting('BENCH_UPSTREAM'),
  undici: { connections: 128, pipelining: 1, keepAliveTimeout: 60_000 },
  retryMethods: [],
  disableRequestLogging: true,
});
app.all('/api/v1/orders/*', (request, reply) => {
  const { '*': rest } = request.params as { '*': string };
  return reply.from(`/orders/${rest}`);
});

await app.listen({ port: 0, host: '127.0.0.1' });
announcePort(app.server.address());
