// Several requests on one HTTP/1 connection without waiting for answers: served in order, one at a time.
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { forEachTest } from './gateway-pair.ts';
import { get, OK, type RawRequest, sendRaw, until } from './raw-sockets.ts';

const { defer, pair } = forEachTest();

const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';
const three = get('/echo/1') + get('/echo/2') + get('/echo/3');

describe('RFC 9112 §9.3.2: pipelined requests', () => {
  it('reach the upstream one after another and are answered in order', async () => {
    let running = 0;
    let most = 0;
    const { upstream, gateway } = await pair((request) => {
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        request.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n${pathOf(request)}`);
      }, 15);
      return undefined;
    });
    const { text, statuses } = await sendRaw(gateway.port, three, 3);
    expect(statuses).toEqual([200, 200, 200]);
    expect(text.match(/\/echo\/\d/g)).toEqual(['/echo/1', '/echo/2', '/echo/3']);
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1', '/echo/2', '/echo/3']);
    expect(most).toBe(1);
  });

  it('of a client that does not read take one upstream connection, not all of them', async () => {
    const body = 'x'.repeat(4_000_000);
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { upstream, gateway } = await pair(() => answer);
    const socket = connect(gateway.port, '127.0.0.1');
    defer(async () => void socket.destroy());
    socket.pause();
    socket.write(get('/echo').repeat(40));
    await until(() => upstream.requests.length > 0);
    expect((await sendRaw(gateway.port, get('/echo/-', ['Connection: close']))).statuses).toEqual([200]);
    expect(upstream.requests.length).toBeLessThan(8);
  });

  it('behind an answer that ends the connection are not served', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { upstream, gateway } = await pair(() => OK, { decide: () => promise });
    const answer = sendRaw(gateway.port, get('/echo/1', ['Connection: close']) + get('/echo/2'));
    await until(() => gateway.views.length > 0);
    resolve(undefined);
    expect(await answer).toMatchObject({ statuses: [200], closed: true });
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1']);
  });

  it('before bytes that are no request are all answered, then the connection ends', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { gateway } = await pair(() => OK, { decide: () => promise });
    const answer = sendRaw(gateway.port, `${get('/echo/1')}${get('/echo/2')}\u0000\u0000\r\n\r\n`, 3);
    await until(() => gateway.views.length > 0);
    resolve(undefined);
    expect(await answer).toMatchObject({ statuses: [200, 200], closed: true });
  });

  it('FWD-17: all are observed when the client leaves, and none is sent on any more', async () => {
    const { upstream, gateway } = await pair(() => undefined);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(three);
    await until(() => upstream.requests.length > 0);
    socket.destroy();
    await until(() => gateway.outcomes.length === 3);
    expect(gateway.outcomes.map(({ status, aborted }) => ({ status, aborted }))).toEqual(
      Array(3).fill({ status: 499, aborted: true }),
    );
    await until(() => upstream.sockets.size === 0);
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1']);
  });
});
