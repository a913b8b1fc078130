// A request whose upstream leads back to the gateway is refused after a few rounds.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;

beforeAll(async () => {
  const mirror = createServer((socket) => {
    const back = connect(gateway.http, '127.0.0.1');
    socket.on('error', () => back.destroy()).on('close', () => back.destroy());
    back.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.pipe(back).pipe(socket);
  });
  mirror.listen(0, '127.0.0.1');
  await once(mirror, 'listening');
  stack.defer(() => void mirror.close());
  const bound = mirror.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  gateway = stack.use(
    await runGateway({
      config: 'loop/gateway.yaml',
      policies: 'loop/policies',
      environment: { MIRROR: `http://127.0.0.1:${port}` },
    }),
  );
});
afterAll(() => stack.disposeAsync());

it('FWD-7: upstream_loop: a request that arrives for the fifth time gets 502', async () => {
  await using client = overHttp1(gateway.http, { tls: false });
  const answer = await client.ask({ path: '/api/round/x' });
  expect(answer.status).toBe(502);
  expect(answer.json).toEqual({
    error: 'Bad Gateway',
    message: 'The round service leads back to this gateway.',
    service: 'round',
  });
  expect(answer.headers['proxy-status']).toBe('sundial; error=proxy_loop_detected; next-hop=round');
  expect(answer.headers.via).toBe(Array(4).fill('1.1 sundial').join(', '));
  await gateway.accessLine(answer.headers['x-request-id']);
  const lines = gateway.log.filter(({ log }) => log === 'access');
  expect(lines).toHaveLength(5);
  expect(lines.filter(({ fault }) => fault === 'upstream_loop')).toHaveLength(1);
});
