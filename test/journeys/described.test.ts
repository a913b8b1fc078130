// A policy without dates takes the deprecation from its OpenAPI description, and callers get the signals.
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
let now = 0;
let folder = '';
let gateway: RunningGateway;
let client: Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-described-'));
  stack.defer(() => rm(folder, { recursive: true }));
  await cp(join(import.meta.dirname, 'described'), folder, { recursive: true });
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const environment = { ECHO: echo.url };
  gateway = stack.use(await runGateway({ policies: folder, lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

function askAt(instant: number, path: string) {
  now = instant;
  return client.ask({ path });
}

const DEPRECATED = Date.UTC(2026, 5, 1);
const SUNSET = Date.UTC(2027, 5, 15);

describe('OAS-2: an operation that its description deprecates', () => {
  it('has the signals from that instant on, with sunset, guide and replacement', async () => {
    const before = await askAt(DEPRECATED - 1, '/api/v2/orders/search?q=1');
    expect(before.status).toBe(200);
    expect(before.headers).not.toHaveProperty('deprecation');
    expect(await askAt(DEPRECATED, '/api/v2/orders/search?q=1')).toMatchObject({
      status: 200,
      headers: {
        deprecation: '@1780272000',
        sunset: 'Tue, 15 Jun 2027 00:00:00 GMT',
        link: expect.stringMatching(
          /^<https:\/\/docs\.example\.com\/orders\/search>; rel="deprecation".*, <https:\/\/127\.0\.0\.1\/api\/v2\/orders>; rel="successor-version"/,
        ),
      },
    });
  });

  it('does not affect the rest of its version', async () => {
    const answer = await askAt(DEPRECATED, '/api/v2/orders/7');
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('deprecation');
  });

  it('answers 410 from its sunset on', async () => {
    expect((await askAt(SUNSET - 1, '/api/v2/orders/search')).status).toBe(200);
    expect(await askAt(SUNSET, '/api/v2/orders/search')).toMatchObject({
      status: 410,
      json: { replacement: expect.stringContaining('/api/v2/orders') },
    });
  });
});

describe('OAS-2: a version that its description deprecates', () => {
  it('has signals and ends by the dates of `info.x-lifecycle`', async () => {
    expect(await askAt(Date.UTC(2026, 0, 15), '/api/v1/orders')).toMatchObject({
      status: 200,
      headers: { deprecation: '@1768435200', sunset: 'Fri, 15 Jan 2027 00:00:00 GMT' },
    });
    expect((await askAt(Date.UTC(2027, 0, 15), '/api/v1/orders')).status).toBe(410);
  });

  it('follows a saved description, and keeps its dates while the file is invalid', async () => {
    const file = join(folder, 'api/v1.yaml');
    const text = await readFile(file, 'utf8');
    const save = async (changed: string) => {
      await writeFile(`${file}.new`, changed);
      await rename(`${file}.new`, file);
    };
    await save(text.replace('2027-01-15', '2027-03-01'));
    await vi.waitFor(
      async () => {
        const { headers } = await askAt(Date.UTC(2026, 10, 20), '/api/v1/orders');
        expect(headers.sunset).toBe('Mon, 01 Mar 2027 00:00:00 GMT');
      },
      { timeout: 20_000, interval: 50 },
    );
    await save('openapi: 3.0.3\ninfo: [');
    await gateway.reload();
    const { headers } = await askAt(Date.UTC(2026, 10, 20), '/api/v1/orders');
    expect(headers.sunset).toBe('Mon, 01 Mar 2027 00:00:00 GMT');
    expect(gateway.log).toContainEqual(expect.objectContaining({ level: 'error' }));
  });
});
