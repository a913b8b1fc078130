// Each step of a version's end is one line of the policy, and editing it undoes the step from the next request.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;
let folder = '';

const POLICY = `api: orders
base: /api/orders
resolve: [{ path: "/api/{version}/orders" }]
echo: true
access: public
upstreams:
  v1: { targets: ["\${env:ECHO}"], path: /echo }
  v2: { targets: ["\${env:ECHO}"], path: /echo }
versions:
  v1:
    released: 2020-01-01
    deprecated: 2021-01-01
    sunset: 2023-01-01
    retired: 2023-07-01
    forgotten: 2024-01-01
    after: { redirect: v2 }
    successor: v2
    guide: https://docs.example.com/orders/v1-to-v2
  v2: { released: 2020-06-01 }
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-taken-back-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'orders.yaml'), POLICY);
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  gateway = stack.use(
    await runGateway({ policies: folder, realClock: true, environment: { ECHO: echo.url } }),
  );
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

/** The response once these edits are in force. */
async function answerTo(...edits: readonly (readonly [line: string, other: string])[]): Promise<Answer> {
  const text = edits.reduce((edited, [line, other]) => {
    expect(edited).toContain(line);
    return edited.replace(line, other);
  }, POLICY);
  await writeFile(join(folder, 'orders.yaml'), text);
  await gateway.reload();
  expect(await gateway.metric('sundial_config_last_reload_successful')).toBe(1);
  return client.ask({ path: '/api/v1/orders/7' });
}

const REMEMBERED = ['    forgotten: 2024-01-01\n', ''] as const;
const NOT_RETIRED = ['    retired: 2023-07-01\n', ''] as const;
const HELD = ['sunset: 2023-01-01', 'sunset: 2123-01-01'] as const;

describe('an end is undone by one line', () => {
  it('404 becomes 301 again without `forgotten`', async () => {
    expect((await answerTo()).status).toBe(404);
    expect(await answerTo(REMEMBERED)).toMatchObject({
      status: 301,
      headers: { location: 'https://127.0.0.1/api/v2/orders/7', 'cache-control': 'max-age=60' },
    });
  });

  it('301 becomes 410 with another `after`, and 301 again', async () => {
    const gone = await answerTo(REMEMBERED, ['after: { redirect: v2 }', 'after: gone']);
    expect(gone).toMatchObject({ status: 410, headers: { 'cache-control': 'max-age=60' } });
    expect((await answerTo(REMEMBERED)).status).toBe(301);
  });

  it('stage retired becomes sunset with a later `retired`', async () => {
    expect((await answerTo(REMEMBERED)).headers['x-api-lifecycle-stage']).toBe('retired');
    const open = await answerTo(REMEMBERED, ['retired: 2023-07-01', 'retired: 2123-07-01']);
    expect(open).toMatchObject({ status: 301, headers: { 'x-api-lifecycle-stage': 'sunset' } });
  });

  it('301 becomes 200 with a later `sunset`, which is in the headers', async () => {
    expect((await answerTo(REMEMBERED, NOT_RETIRED)).status).toBe(301);
    const served = await answerTo(REMEMBERED, NOT_RETIRED, HELD);
    expect(served).toMatchObject({
      status: 200,
      headers: { deprecation: '@1609459200', sunset: 'Fri, 01 Jan 2123 00:00:00 GMT' },
    });
  });
});
