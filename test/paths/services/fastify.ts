// The routes of routes.ts on Fastify, with its router's defaults.
import { fastify } from 'fastify';
import type { PathService } from './path-service.ts';

export async function startFastify(): Promise<PathService> {
  const app = fastify();
  const reached = (name: string) => () => `reached ${name}`;
  app.get('/items/:id', reached('item'));
  app.get('/items/:id/payments', reached('payments'));
  app.all('/admin/:id', reached('admin'));
  // The root of a plugin has both spellings, `/export` and `/export/`.
  app.register(async (plugin) => void plugin.get('/', reached('export')), { prefix: '/export' });
  app.get('/users::purge', reached('purge'));
  app.get('/$metadata', reached('metadata'));
  app.get('/@me', reached('me'));
  app.get('/pages/$status', reached('status'));
  app.get('/pages/:name', reached('page'));
  app.get('/files/*', reached('files'));
  app.all('/mono/secure', reached('secure'));
  app.all('/mono/secure/*', reached('secure'));
  app.all('/mono/*', reached('mono'));
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), [Symbol.asyncDispose]: () => app.close() };
}
