// An upstream that responds before it has the whole body, on both planes: the rest is not read as a request.
import { describe, expect, it } from 'vitest';
import { PLANES, type PlaneName } from '../../../gateway/plan/bounds.ts';
import { forEachTest, type Pair } from '../gateway-pair.ts';
import { get, OK, openRaw, type RawClient, type RawRequest, until } from '../raw-sockets.ts';

const { defer, pair } = forEachTest();

interface Upload {
  readonly name: string;
  readonly line: string;
  readonly first: string;
  readonly rest: string;
}

const UPLOADS: readonly Upload[] = [
  { name: 'sized', line: 'Content-Length: 10', first: 'hello', rest: 'world' },
  {
    name: 'in chunks',
    line: 'Transfer-Encoding: chunked',
    first: '5\r\nhello\r\n',
    rest: '5\r\nworld\r\n0\r\n\r\n',
  },
];
const CANARY = get('/echo/canary');
const HALF = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha';

interface Started extends Pair {
  readonly client: RawClient;
}

/** Sends the head and half of the body. `onHalf`: called when the upstream has both. */
async function upload(
  plane: PlaneName,
  { line, first }: Upload,
  onHalf: (request: RawRequest) => void,
): Promise<Started> {
  let isHalf = false;
  const started = await pair(
    () => undefined,
    { plane },
    (request) => {
      if (!isHalf) onHalf(request);
      isHalf = true;
      return undefined;
    },
  );
  const client = await openRaw(started.gateway.port);
  defer(async () => void client.socket.destroy());
  client.socket.write(get('/echo', [line], 'POST', first), 'latin1');
  return { ...started, client };
}

describe.each(PLANES)('FWD-12, SMG-26: on the %s plane', (plane) => {
  describe.each(UPLOADS)('after half a body that is $name', (body) => {
    it('a response is sent at once with Connection: close, and later octets are discarded', async () => {
      const { client, gateway, upstream } = await upload(plane, body, ({ socket }) => void socket.write(OK));
      await until(() => client.text.endsWith('ok'));
      expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n/i);
      client.socket.write(body.rest + CANARY, 'latin1');
      await until(() => client.ended && upstream.sockets.size === 0);
      expect(client.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
      expect(upstream.requests).toHaveLength(1);
      expect(upstream.requests[0]?.complete).toBe(false);
      expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: false }]);
    });

    it('a refusal reaches the client even if the upstream then resets the connection', async () => {
      const { client, gateway } = await upload(plane, body, ({ socket }) => {
        const refusal = 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno';
        socket.write(refusal, () => setImmediate(() => socket.resetAndDestroy()));
      });
      await until(() => client.text.endsWith('\r\n\r\nno'));
      expect(client.text).toMatch(/^HTTP\/1\.1 413 /);
      client.socket.write(body.rest, 'latin1');
      await until(() => client.ended);
      expect(gateway.outcomes).toMatchObject([{ status: 413, aborted: false }]);
    });

    it('a response that ends after the body is complete, and so is the body', async () => {
      const { client, gateway, upstream } = await upload(
        plane,
        body,
        ({ socket }) => void socket.write(HALF),
      );
      await until(() => client.text.endsWith('ha'));
      client.socket.write(body.rest, 'latin1');
      await until(() => upstream.requests[0]?.complete === true);
      upstream.requests[0]?.socket.write('lf');
      await until(() => client.ended);
      expect(client.text.endsWith('\r\n\r\nhalf')).toBe(true);
      expect(upstream.requests[0]?.body.replaceAll(/\W|\d/g, '')).toBe('helloworld');
      expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: false }]);
    });

    it('a response that the upstream resets closes the connection of the client', async () => {
      const { client, gateway } = await upload(plane, body, ({ socket }) => {
        socket.write(HALF, () => setImmediate(() => socket.resetAndDestroy()));
      });
      await until(() => client.ended && gateway.outcomes.length === 1);
      expect(client.text.endsWith('\r\n\r\nha')).toBe(true);
      expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
      expect(gateway.facts[0]?.completion.fault?.code).toBe('upstream_reset');
    });

    it.each([
      ['a close', ({ socket }: RawRequest) => void socket.end()],
      ['a reset', ({ socket }: RawRequest) => void socket.resetAndDestroy()],
      ['invalid HTTP', ({ socket }: RawRequest) => void socket.write('this is no HTTP\r\n\r\n')],
    ])('%s instead of a response gives 502 without a retry', async (_name, onHalf) => {
      const { client, gateway, upstream } = await upload(plane, body, onHalf);
      await until(() => client.ended);
      expect(client.text).toMatch(/^HTTP\/1\.1 502 /);
      expect(gateway.outcomes).toMatchObject([{ status: 502, aborted: false }]);
      expect(upstream.requests).toHaveLength(1);
    });
  });
});
