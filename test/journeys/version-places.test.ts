// Versions of one API on one service, one within the path of another: each is reached only as itself (VER-7).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
const clients: Record<string, Client> = {};
let issuer: TestIssuer;

beforeAll(async () => {
  const [echo, other] = [await startEcho({ port: 0 }), await startEcho({ port: 0 })];
  stack.defer(() => echo.close());
  stack.defer(() => other.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const near = echo.url.replace('127.0.0.1', '[::ffff:127.0.0.2]');
  const environment = { ECHO: echo.url, NEAR: near, OTHER: other.url, ISSUER: issuer.url };
  const gateway = stack.use(
    await runGateway({
      policies: 'version-places',
      lifecycleNow: () => Date.UTC(2026, 10, 20),
      environment,
    }),
  );
  clients['HTTP/1.1'] = stack.use(overHttp1(gateway.https));
  clients['HTTP/2'] = stack.use(overHttp2(gateway.https));
});
afterAll(() => stack.disposeAsync());

async function ask(how: string, path: string, version?: string, scope = 'orders:read') {
  const headers = {
    authorization: `Bearer ${await issuer.sign({ scope })}`,
    'x-consumer': 'root',
    ...(version !== undefined && { 'api-version': version }),
  };
  return clients[how]?.ask({ path, headers });
}

/** Paths that some service reads as `/v2/secure`, of a version whose path encloses that of v2. */
const SPELLINGS = [
  '/V2/secure',
  '/V2',
  '/V2/',
  '/v2/secure',
  '/%562/secure',
  '/V2%2Fsecure',
  '/%2FV2/secure',
  '//V2/secure',
  '/V2//secure',
  '/V2;x=1/secure',
  '/V2%3Bx/secure',
  '/V2;/secure',
  '/V2%20/secure',
  '/%20/V2/secure',
  '/V2.json',
  '/V%32/anything/else',
];

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (how) => {
  it.each(SPELLINGS)('VER-7: %s of the outer version gets 400', async (path) => {
    expect(await ask(how, `/api/hist${path}`, 'v1', 'orders:read inv:admin')).toMatchObject({ status: 400 });
  });

  it.each(['/v1/x', '/v1/x/orders', '/v1%2Fx/orders', '/v1/X;a/orders', '/V1/x%20', '/v1/%2Fx/orders'])(
    'RET-2: %s does not lead into a version that has ended',
    async (path) => {
      expect(await ask(how, `/api/ended${path}`)).toMatchObject({ status: 400 });
      expect(await ask(how, `/api/v2/ended${path}`)).toMatchObject({ status: 400 });
    },
  );

  it.each([
    ['/api/hist/secure', 'v2', 403],
    ['/api/hist/orders', 'v2', 200],
    ['/api/hist/V2/secure', 'v2', 200],
    ['/api/hist/orders', 'v1', 200],
    ['/api/hist/orders/V2/secure', 'v1', 200],
    ['/api/hist/V20/secure', 'v1', 200],
    ['/api/v1/ended/orders', undefined, 410],
    ['/api/ended/v1/orders', undefined, 200],
    ['/api/same/v3/orders', 'v1', 200],
    ['/api/same/orders', 'v3', 200],
    ['/api/go/three/x', 'v1', 400],
    ['/api/go/%74hree/x', 'v1', 400],
    ['/api/go/Three/x', 'v1', 400],
    ['/api/go/three;x/x', 'v1', 200],
    ['/api/go/three%2Fx', 'v1', 200],
    ['/api/go/v2/x', 'v1', 200],
    ['/api/near/orders', 'v1', 200],
    ['/api/near/v2/orders', 'v1', 400],
  ])('VER-7: %s of version %s gets %i', async (path, version, status) => {
    expect(await ask(how, path, version)).toMatchObject({ status });
  });

  it('XFF-1: the identity header of the inner version cannot be sent through the outer one', async () => {
    const own = await ask(how, '/api/hist/orders', 'v2');
    expect(own?.json).toMatchObject({ target: '/echo/hist/V2/orders' });
    expect(JSON.stringify(own?.json)).not.toContain('root');
    const outer = await ask(how, '/api/hist/orders', 'v1');
    expect(outer?.json).toMatchObject({ target: '/echo/hist/orders' });
    expect(JSON.stringify(outer?.json)).not.toContain('root');
    for (const path of SPELLINGS) {
      const answer = await ask(how, `/api/hist${path}`, 'v1');
      expect(answer?.json).not.toHaveProperty('target');
    }
  });

  it('a refusal says what to do, and comes after authentication', async () => {
    const refused = await ask(how, '/api/hist/V2/secure', 'v1');
    expect(refused?.json).toMatchObject({ message: expect.stringMatching(/another version. Name that/) });
    const anonymous = await clients[how]?.ask({
      path: '/api/hist/V2/secure',
      headers: { 'api-version': 'v1' },
    });
    expect(anonymous).toMatchObject({ status: 401 });
  });

  it('another API around it is not affected: an administrator reaches all by one base', async () => {
    expect(await ask(how, '/api/wide/V2/secure', undefined, 'inv:admin')).toMatchObject({ status: 200 });
  });
});
