// Refusals of the listener before it considers any API, for requests that ordinary clients can send.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
const clients = new Map<string, Client>();

beforeAll(async () => {
  // Its upstream gets no request.
  gateway = stack.use(
    await runGateway({ policies: 'refusals', environment: { ECHO: 'http://127.0.0.1:9' } }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

const PROBLEM = 'application/problem+json';
const rows: readonly (readonly [status: number, title: string, ask: Ask])[] = [
  [400, 'a dot segment', { path: '/api/open/../orders' }],
  [400, 'an invalid host', { path: '/api/open', headers: { host: '127.0.0.1:99999' } }],
  [414, 'a target that is too long', { path: `/api/open/${'x'.repeat(8_200)}` }],
  [417, 'an unknown expectation', { path: '/api/open', method: 'POST', headers: { expect: 'coffee' } }],
  [431, 'too many lines', { path: '/api/open', headers: { 'x-many': Array(300).fill('1') } }],
  [501, 'an unsupported method', { path: '/api/open', method: 'PROPFIND' }],
];
const cases = ['HTTP/1.1', 'HTTP/2'].flatMap((protocol) => rows.map((row) => [protocol, ...row] as const));

describe('a request that is refused before any API is considered', () => {
  it.each(cases)('TLS-6, ERR-2: over %s: %i, %s', async (protocol, status, _title, ask) => {
    const asked = (headers: Ask['headers']) =>
      clients.get(protocol)?.ask({ ...ask, headers: { ...ask.headers, ...headers } });
    expect(await asked({})).toMatchObject({
      status,
      json: { message: expect.any(String) },
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'strict-transport-security': 'max-age=86400',
      },
    });
    expect(await asked({ accept: PROBLEM })).toMatchObject({
      status,
      json: { status, title: expect.any(String) },
      headers: { 'content-type': PROBLEM, 'strict-transport-security': 'max-age=86400', vary: 'Accept' },
    });
  });

  it('TLS-6: has no Strict-Transport-Security on plain HTTP', async () => {
    await using client = overHttp1(gateway.http, { tls: false });
    for (const [, , ask] of rows) {
      expect((await client.ask(ask)).headers).not.toHaveProperty('strict-transport-security');
    }
  });
});
