// Node's HTTP server with http-proxy-3: the same path rewrite and upstream, no policy and no log.
import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';
import { announcePort } from '../children.ts';
import { setting } from '../work.ts';

const proxy = createProxyServer({
  target: setting('BENCH_UPSTREAM'),
  agent: new Agent({ keepAlive: true, maxSockets: 128 }),
  xfwd: true,
});
proxy.on('error', (error) => {
  throw error;
});

// As long as the other peers keep idle connections.
const server = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
  request.url = request.url?.replace(/^\/api\/v1(?=\/orders\/)/, '');
  proxy.web(request, response);
});
server.listen(0, '127.0.0.1', () => announcePort(server.address()));
