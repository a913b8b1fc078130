// If only a header tells versions apart, the successor has the same URL, and responses give its name instead.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGateway } from '../support/gateway.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
let client: Client;

const FOUND = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"id":7}';
const PAGE = 'https://127.0.0.1/.well-known/lifecycle/ledger';

beforeAll(async () => {
  const upstream = stack.use(await startRawUpstream((_target, socket) => void socket.write(FOUND)));
  const gateway = stack.use(
    await runGateway({
      policies: 'successor-by-name',
      lifecycleNow: () => Date.UTC(2026, 10, 20, 12),
      environment: { UPSTREAM: upstream.url },
    }),
  );
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

const ask = (version: string, path = '', method = 'GET') =>
  client.ask({ method, path: `/api/ledger${path}`, headers: { 'api-version': version } });

describe('RET-8, LNK-2: a successor at the same URL', () => {
  it('is named by the 410 of a retired version, without a link', async () => {
    const answer = await ask('v0');
    expect(answer.status).toBe(410);
    expect(answer.json).toEqual({
      error: 'Gone',
      message: 'API version v0 was retired on 2026-01-01. Its successor is v3.',
      successor: 'v3',
    });
    expect(answer.headers.link).toBe(`<${PAGE}>; rel="status", <${PAGE}>; rel="sunset"`);
  });

  it('RET-4: is the first served version of a chain of redirects', async () => {
    const answer = await ask('v4.5.0');
    expect([answer.status, answer.headers.location]).toEqual([410, undefined]);
    expect(answer.json).toMatchObject({ successor: 'v3' });
  });

  it('is named by a brownout', async () => {
    const answer = await ask('v1');
    expect(answer.status).toBe(410);
    expect(answer.json).toEqual({
      error: 'Gone',
      message:
        'API version v1 is in an announced brownout until 2026-11-21T00:00:00Z, and will be removed on 2027-06-01. Its successor is v3.',
      retryAfter: 43_200,
      estimatedRestoration: '2026-11-21T00:00:00Z',
      successor: 'v3',
    });
  });

  it('is not named by a served response, but by a 429', async () => {
    const served = await ask('v2');
    expect(served.headers.link).toBe(`<${PAGE}>; rel="status", <${PAGE}>; rel="sunset"`);
    expect(served.json).toEqual({
      _deprecation: { deprecated: true, sunset_date: '2027-06-01' },
      id: 7,
    });
    const limited = await ask('v2');
    expect(limited.status).toBe(429);
    expect(limited.json).toMatchObject({ error: 'Too Many Requests', successor: 'v3' });
    expect(limited.json).not.toHaveProperty('replacement');
  });

  it('an operation with a successor at another path gets its URL', async () => {
    const served = await ask('v2', '/search');
    expect(served.headers.link).toContain('<https://127.0.0.1/api/ledger/entries>; rel="successor-version"');
    expect(served.json).toMatchObject({
      _deprecation: { replacement: 'https://127.0.0.1/api/ledger/entries' },
    });
  });

  it('an operation whose successor is another method of its path gets neither', async () => {
    await ask('v2', '/entries', 'PUT');
    const limited = await ask('v2', '/entries', 'PUT');
    expect(limited.status).toBe(429);
    expect(limited.headers.link).not.toContain('successor-version');
    expect(limited.json).not.toHaveProperty('replacement');
    expect(limited.json).not.toHaveProperty('successor');
  });
});
