// `mode: observe` signals and counts everything, and refuses nothing for lifecycle or limits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
const DAY = Date.UTC(2026, 10, 20);
let now = DAY;
let gateway: RunningGateway;
let client: Client;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  gateway = stack.use(
    await runGateway({ policies: 'observe', lifecycleNow: () => now, environment: { ECHO: echo.url } }),
  );
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

async function ask(path: string, at = DAY): Promise<[Answer, Readonly<Record<string, unknown>>]> {
  now = at;
  const answer = await client.ask({ path });
  return [answer, await gateway.accessLine(answer.headers['x-request-id'])];
}

const observed = (version: string, reason: string) =>
  gateway.metric(`sundial_observed_refusals_total{api="orders",version="${version}",reason="${reason}"}`);

describe('an observed API', () => {
  it('serves a version past its sunset with all signals, and counts the refusal', async () => {
    const [answer, line] = await ask('/api/v1/orders/7');
    expect(answer).toMatchObject({
      status: 200,
      headers: { deprecation: '@1748736000', sunset: 'Sun, 01 Nov 2026 00:00:00 GMT' },
    });
    expect(answer.headers.link).toContain('<https://127.0.0.1/api/v2/orders/7>; rel="successor-version"');
    expect(line).toMatchObject({ status: 200, stage: 'retired', would_refuse: 'version_retired' });
    expect(line).not.toHaveProperty('refusal');
    expect(await observed('v1', 'version_retired')).toBe(1);
  });

  it('serves a version that would be forgotten otherwise', async () => {
    const [answer, line] = await ask('/api/v1/orders/7', Date.UTC(2027, 10, 1));
    expect(answer.status).toBe(200);
    expect(line).toMatchObject({ would_refuse: 'version_unknown' });
    expect(await observed('v1', 'version_unknown')).toBe(1);
  });

  it('serves requests over the limit, and still sends the limit', async () => {
    const answers: Answer[] = [];
    for (let call = 0; call < 3; call += 1) answers.push((await ask('/api/v2/orders'))[0]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['1', '0', '0']);
    expect(answers[2]?.headers).not.toHaveProperty('retry-after');
    expect(await observed('v2', 'rate_limited')).toBe(1);
  });

  it('still answers 410 for a version without an upstream', async () => {
    const [answer, line] = await ask('/api/v0/orders/7');
    expect(answer.status).toBe(410);
    expect(line).toMatchObject({ refusal: 'version_retired' });
    expect(line).not.toHaveProperty('would_refuse');
    expect(await observed('v0', 'version_retired')).toBeUndefined();
  });

  it('still refuses an unknown version', async () => {
    expect((await ask('/api/v9/orders'))[0].status).toBe(404);
  });
});
