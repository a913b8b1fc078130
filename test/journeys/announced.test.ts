// Announcements take effect on their day: in headers, on published pages, for caches and in responses.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';

const ANNOUNCED = Date.UTC(2025, 11, 1);
const DEPRECATED = Date.UTC(2026, 0, 15);
const BROWNOUT_ANNOUNCED = Date.UTC(2026, 5, 1);
const EXTENDED = Date.UTC(2026, 9, 10);
const FIRST_SUNSET = 'Fri, 15 Jan 2027 00:00:00 GMT';
const LATER_SUNSET = 'Thu, 15 Apr 2027 00:00:00 GMT';
const ORDERS = '/api/v1/orders/7';
const PAGE = '/.well-known/lifecycle/orders';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;
let now = ANNOUNCED;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const environment = { ECHO: echo.url };
  gateway = stack.use(await runGateway({ policies: 'announced', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

function askAt(at: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  now = at;
  return client.ask({ path, headers });
}

function linesOf({ headers }: Answer) {
  const { deprecation, sunset, link } = headers;
  const warns = headers.warning !== undefined;
  const info = headers['x-api-deprecation-info'] !== undefined;
  return { deprecation, sunset, link, warns, info, limit: headers['x-ratelimit-limit'] };
}

/** The coming dates of the version in the document, on the page, in the calendar and in the feed. */
async function publishedAt(at: number) {
  const document = await askAt(at, PAGE);
  const page = await askAt(at, PAGE, { accept: 'text/html' });
  const calendar = await askAt(at, `${PAGE}.ics`);
  const feed = await askAt(at, `${PAGE}.atom`);
  const [version] = document.json.versions as Record<string, unknown>[];
  const events = calendar.text.replaceAll('\r\n ', '').split('BEGIN:VEVENT');
  const event = events.find((each) => each.includes('SUMMARY:orders v1 sunset'));
  const [, row = ''] = /<th scope="row">v1<\/th>(.*?)<\/tr>/.exec(page.text) ?? [];
  const dates = [...row.matchAll(/datetime="(.*?)"/g)].map(([, date]) => date);
  return {
    sunset: version?.sunset,
    next: version?.next_change,
    brownouts: version?.brownouts,
    isShown: dates.includes(String(version?.sunset)),
    event: /DTSTART;VALUE=DATE:(\d+)/.exec(event ?? '')?.[1],
    titles: [...feed.text.matchAll(/<title>(orders v1 .*?)<\/title>/g)].map(([, title]) => title),
  };
}

describe('a deprecation', () => {
  const QUIET = { deprecation: undefined, sunset: undefined, link: undefined, warns: false, info: false };

  it('DEP-8: sends Deprecation with its future date, and Sunset, from its announcement on', async () => {
    expect(linesOf(await askAt(ANNOUNCED - 1, ORDERS))).toEqual({ ...QUIET, limit: '1000' });
    expect(linesOf(await askAt(ANNOUNCED, ORDERS))).toEqual({
      ...QUIET,
      deprecation: `@${DEPRECATED / 1_000}`,
      sunset: FIRST_SUNSET,
      link: expect.stringMatching(/rel="deprecation".*rel="sunset"$/),
      limit: '1000',
    });
    expect(linesOf(await askAt(DEPRECATED, ORDERS))).toMatchObject({ warns: true, info: true, limit: '500' });
  });

  it('DEP-1: sends only Sunset before it begins, if Deprecation uses another form', async () => {
    const path = '/api/v1/literal/7';
    expect(linesOf(await askAt(ANNOUNCED - 1, path))).toMatchObject(QUIET);
    const ahead = linesOf(await askAt(ANNOUNCED, path));
    expect(ahead).toMatchObject({ deprecation: undefined, sunset: FIRST_SUNSET, warns: false });
    expect(linesOf(await askAt(DEPRECATED, path))).toMatchObject({
      deprecation: 'true',
      sunset: FIRST_SUNSET,
    });
  });

  it('is published from its announcement on, and not before', async () => {
    const before = await publishedAt(ANNOUNCED - 1);
    expect(before).toMatchObject({ sunset: undefined, next: undefined, event: undefined });
    expect(before.titles).toEqual(['orders v1 is released']);
    const after = await publishedAt(ANNOUNCED);
    expect(after).toMatchObject({ sunset: '2027-01-15T00:00:00Z', isShown: true, event: '20270115' });
    expect(after.next).toEqual({ at: '2026-01-15T00:00:00Z', stage: 'deprecated' });
    expect(after.titles[0]).toBe('orders v1 is deprecated from 2026-01-15');
  });
});

describe('an extension', () => {
  it('applies from its announcement on, in the header and on every page', async () => {
    expect((await askAt(EXTENDED - 1, ORDERS)).headers.sunset).toBe(FIRST_SUNSET);
    expect((await askAt(EXTENDED, ORDERS)).headers.sunset).toBe(LATER_SUNSET);
    const before = await publishedAt(EXTENDED - 1);
    expect(before).toMatchObject({ sunset: '2027-01-15T00:00:00Z', isShown: true, event: '20270115' });
    expect(before.next).toEqual({ at: '2027-01-15T00:00:00Z', stage: 'sunset' });
    const after = await publishedAt(EXTENDED);
    expect(after).toMatchObject({ sunset: '2027-04-15T00:00:00Z', isShown: true, event: '20270415' });
    expect(after.titles[0]).toBe('orders v1 ends on 2027-04-15, not on 2027-01-15');
  });

  it('moves the brownouts that depend on the sunset when it is announced', async () => {
    const from = async (at: number) => ((await publishedAt(at)).brownouts as { from: string }[])[0]?.from;
    expect(await from(EXTENDED - 1)).toBe('2027-01-08T00:00:00Z');
    expect(await from(EXTENDED)).toBe('2027-04-08T00:00:00Z');
    expect((await askAt(Date.UTC(2027, 0, 8), ORDERS)).status).toBe(200);
    expect((await askAt(Date.UTC(2027, 3, 8), ORDERS)).status).toBe(410);
  });
});

it('brownouts are published from their announcement on, and not before', async () => {
  expect((await publishedAt(BROWNOUT_ANNOUNCED - 1)).brownouts).toBeUndefined();
  expect((await publishedAt(BROWNOUT_ANNOUNCED)).brownouts).toHaveLength(1);
});

it.each([
  ['the deprecation', ANNOUNCED],
  ['the brownouts', BROWNOUT_ANNOUNCED],
  ['the extension', EXTENDED],
])('CACHE-6: no response is reused past the announcement of %s', async (_what, at) => {
  const cacheable = `${ORDERS}?header=${encodeURIComponent('Cache-Control:public, max-age=3600')}`;
  const { headers } = await askAt(at - 60_000, cacheable);
  expect(headers['cache-control']).toBe('public, max-age=60');
  for (const path of [PAGE, `${PAGE}.ics`, `${PAGE}.atom`])
    expect((await askAt(at - 60_000, path)).headers['cache-control']).toBe('max-age=60');
});

it('SUN-3: an operation or API with only a sunset sends Sunset while it is served', async () => {
  const { headers } = await askAt(Date.UTC(2025, 9, 1), '/api/v2/orders/export');
  expect([headers.deprecation, headers.sunset]).toEqual([undefined, 'Sat, 01 Nov 2025 00:00:00 GMT']);
  expect((await askAt(Date.UTC(2025, 9, 1), ORDERS)).headers.sunset).toBeUndefined();
  const hooks = await askAt(Date.UTC(2026, 0, 1), '/hooks/7');
  expect([hooks.headers.deprecation, hooks.headers.sunset]).toEqual([undefined, FIRST_SUNSET]);
});

it.each([
  [Date.UTC(2027, 3, 15), 'sunset', 'API version v1 reached its sunset on 2027-04-15. '],
  [Date.UTC(2027, 6, 15), 'retired', 'API version v1 was retired on 2027-07-15. '],
])('RET-8: at %d the 410 names the stage %s', async (at, stage, message) => {
  const answer = await askAt(at, ORDERS);
  expect(answer.status).toBe(410);
  expect(answer.headers['x-api-lifecycle-stage']).toBe(stage);
  expect(`${answer.json.message} `).toBe(message);
  const [version] = (await askAt(at, PAGE)).json.versions as { stage: string }[];
  expect(version?.stage).toBe(stage);
});

it('STAT-1: a forgotten API is on no page and in no metric', async () => {
  const metrics = (stage: string) =>
    Promise.all([
      gateway.metric(`sundial_api_info{api="hooks",stage="${stage}"}`),
      gateway.metric(`sundial_version_info{api="hooks",version="none",stage="${stage}",successor=""}`),
      gateway.metric('sundial_version_sunset_timestamp_seconds{api="hooks",version="none"}'),
    ]);
  const forgotten = Date.UTC(2027, 1, 15);
  const page = '/.well-known/lifecycle/hooks';
  expect((await askAt(forgotten - 1, page)).status).toBe(200);
  expect(await metrics('retired')).toEqual([1, 1, Date.UTC(2027, 0, 15) / 1_000]);
  for (const path of [page, `${page}.ics`, `${page}.atom`])
    expect((await askAt(forgotten, path)).status).toBe(404);
  expect(await metrics('retired')).toEqual([undefined, undefined, undefined]);
});
