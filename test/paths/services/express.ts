// The routes of routes.ts on Express, behind method-override, which reads the method from a header.
import express from 'express';
import methodOverride from 'method-override';
import { listening, type PathService } from './path-service.ts';

export function startExpress(): Promise<PathService> {
  const app = express();
  // Otherwise Express prints a stack for each path that it cannot decode.
  app.set('env', 'test');
  app.use(methodOverride());
  const reached =
    (name: string): express.RequestHandler =>
    ({ method }, response) =>
      void response.type('text').send(`reached ${name} by ${method}`);
  app.get('/items/:id', reached('item'));
  app.post('/items/:id', reached('item'));
  app.delete('/items/:id', reached('removal'));
  app.get('/items/:id/payments', reached('payments'));
  app.all('/admin/:id', reached('admin'));
  app.get('/export', reached('export'));
  app.get('/users\\:purge', reached('purge'));
  app.get('/$metadata', reached('metadata'));
  app.get('/@me', reached('me'));
  app.get('/pages/$status', reached('status'));
  app.get('/pages/:name', reached('page'));
  app.get('/files/*rest', reached('files'));
  app.use('/mono/secure', reached('secure'));
  app.use('/mono', reached('mono'));
  return listening(app.listen(0, '127.0.0.1'));
}
