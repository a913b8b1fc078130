// The upstream of the bench without nginx: responds with JSON at once over keep-alive connections.
import { createServer } from 'node:http';
import { announcePort } from './children.ts';
import { answerOf, LARGE, SMALL } from './work.ts';

const [small, large] = [Buffer.from(answerOf(SMALL)), Buffer.from(answerOf(LARGE))];

const server = createServer({ keepAliveTimeout: 3_600_000 }, (request, response) => {
  request.resume();
  const body = request.url?.startsWith('/orders/large/') ? large : small;
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'max-age=60',
    ETag: '"bench-1"',
  });
  response.end(body);
});

server.listen(0, '127.0.0.1', () => announcePort(server.address()));
