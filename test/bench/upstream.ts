// The one service behind every peer of the bench: answers 1 KiB of JSON at once over keep-alive.
// Started by run.ts as a process of its own.
import { createServer } from 'node:http';
import { announcePort } from './children.ts';

const record = { id: 1000, currency: 'EUR', amount: 4250, note: '' };
const body = Buffer.from(
  JSON.stringify({ ...record, note: 'x'.repeat(1024 - JSON.stringify(record).length) }),
);

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'max-age=60',
    ETag: '"bench-1"',
  });
  response.end(body);
});

server.listen(0, '127.0.0.1', () => announcePort(server.address()));
