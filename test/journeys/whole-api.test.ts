// APIs with dates for all versions or without versions, one second before, at and after each date.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { operate } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { beginPause, endPause } from '../support/pauses.ts';

const SECOND = 1_000;
const at = (text: string) =>
  Temporal.Instant.from(text.includes('T') ? text : `${text}T00:00:00Z`).epochMilliseconds;

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;
let now = at('2026-11-20');

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const environment = { ECHO: echo.url };
  gateway = stack.use(await runGateway({ policies: 'whole-api', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

function ask(path: string, instant: number, headers = {}): Promise<Answer> {
  now = instant;
  return client.ask({ path, headers });
}

/** The stage in document, page and metrics, or each of them if they differ. `nothing` if none has the API. */
async function stageOf(api: string, instant: number): Promise<string> {
  const place = `/.well-known/lifecycle/${api}`;
  const { status, json } = await ask(place, instant);
  const { text } = await ask(place, instant, { accept: 'text/html' });
  const [, shown] = /As a whole this API is <strong class="\w+">(\w+)</.exec(text) ?? [];
  const isKnown = await gateway.metric(
    `sundial_version_sunset_timestamp_seconds{api="${api}",version="none"}`,
  );
  if (status === 404 && isKnown === undefined) return 'nothing';
  const series = `sundial_api_info{api="${api}",stage="${json.stage}"}`;
  return new Set([json.stage, shown, (await gateway.metric(series)) === 1 ? json.stage : 'other']).size === 1
    ? String(json.stage)
    : `${json.stage} in the document, ${shown} on the page`;
}

const told = ({ status, headers }: Answer) =>
  [
    status,
    headers.deprecation ?? '-',
    headers.sunset ?? '-',
    headers.warning === undefined ? '-' : 'warned',
    headers['x-ratelimit-limit'] ?? '-',
  ].join(' ');

const SIGNALS = '@1768435200 Fri, 15 Jan 2027 00:00:00 GMT';

describe('an API without versions', () => {
  it.each([
    ['its deprecation', '2026-01-15', '200 - - - 1000', `200 ${SIGNALS} warned 500`, 'active', 'deprecated'],
    [
      'a brownout',
      '2026-12-08T14:00:00Z',
      `200 ${SIGNALS} warned 500`,
      `410 ${SIGNALS} warned -`,
      'deprecated',
      'deprecated',
    ],
    [
      'the end of the brownout',
      '2026-12-08T14:15:00Z',
      `410 ${SIGNALS} warned -`,
      `200 ${SIGNALS} warned 500`,
      'deprecated',
      'deprecated',
    ],
    ['its sunset', '2027-01-15', `200 ${SIGNALS} warned 500`, `410 ${SIGNALS} - -`, 'deprecated', 'sunset'],
    ['its retirement', '2027-07-15', `410 ${SIGNALS} - -`, `410 ${SIGNALS} - -`, 'sunset', 'retired'],
    ['being forgotten', '2028-01-15', `410 ${SIGNALS} - -`, '404 - - - -', 'retired', 'nothing'],
  ])('crosses %s on %s, to the second', async (_what, date, before, after, stageBefore, stageAfter) => {
    const instant = at(date);
    const instants = [instant - SECOND, instant, instant + SECOND];
    const answers: string[] = [];
    const stages: string[] = [];
    for (const each of instants) {
      answers.push(told(await ask('/hooks/7', each)));
      stages.push(await stageOf('hooks', each));
    }
    expect(answers).toEqual([before, after, after]);
    expect(stages).toEqual([stageBefore, stageAfter, stageAfter]);
  });

  it('WARN-1, LNK-1: is named as an API, with its guide, its page and its alternate', async () => {
    const { headers } = await ask('/hooks', at('2026-11-20'));
    const page = 'https://127.0.0.1/.well-known/lifecycle/hooks';
    expect(headers.warning).toBe(
      '299 - "This API is deprecated and will be removed on 2027-01-15; see https://docs.example.com/hooks"',
    );
    expect(headers['x-api-deprecation-info']).toBe(page);
    expect(headers.link).toBe(
      `<https://docs.example.com/hooks>; rel="deprecation"; type="text/html", <${page}>; rel="status", <${page}>; rel="sunset", <https://events.example.com/subscriptions>; rel="alternate"`,
    );
  });

  it('RET-8: is named in its 410, with the reason and the guide', async () => {
    const { json, headers } = await ask('/hooks', at('2027-02-01'));
    expect(json).toMatchObject({
      message: 'This API reached its sunset on 2027-01-15.',
      reason: 'events are subscribed to by now',
      migration_guide: 'https://docs.example.com/hooks',
    });
    expect((await gateway.accessLine(headers['x-request-id'])).refusal).toBe('version_retired');
    const { json: dark } = await ask('/hooks', at('2026-12-08T14:05:00Z'));
    expect(dark.message).toMatch(/^This API is in an announced brownout until 2026-12-08T14:15:00Z/);
  });

  it('is in the metrics like a version', async () => {
    const labels = 'api="hooks",version="none"';
    await ask('/hooks', at('2027-02-01'));
    expect(await gateway.metric(`sundial_retired_requests_total{${labels},action="gone"}`)).toBeGreaterThan(
      0,
    );
    const sunset = `sundial_version_sunset_timestamp_seconds{${labels}}`;
    expect(await gateway.metric(sunset)).toBe(at('2027-01-15') / SECOND);
    now = at('2026-11-20');
    expect(await gateway.metric(`sundial_version_info{${labels},stage="deprecated",successor=""}`)).toBe(1);
  });

  it('has a document, a page and a calendar', async () => {
    const { json } = await ask('/.well-known/lifecycle/hooks', at('2026-11-20'));
    expect(json).toMatchObject({
      api: 'hooks',
      stage: 'deprecated',
      next_change: { at: '2027-01-15T00:00:00Z', stage: 'sunset' },
      versions: [
        {
          version: 'none',
          stage: 'deprecated',
          url: 'https://127.0.0.1/hooks',
          sunset: '2027-01-15T00:00:00Z',
          alternate: 'https://events.example.com/subscriptions',
        },
      ],
    });
    const { text: page } = await ask('/.well-known/lifecycle/hooks', at('2026-11-20'), {
      accept: 'text/html',
    });
    expect(page).toContain(
      '>deprecated</strong>, sunset from <time datetime="2027-01-15T00:00:00Z">2027-01-15</time>.',
    );
    expect(page).toContain('<th scope="row">All of it</th>');
    expect(page).not.toMatch(/>[^<]*version/i);
    expect(page).toContain('<a href="https://events.example.com/subscriptions">What may serve instead</a>');
    const { text } = await ask('/.well-known/lifecycle/hooks.ics', at('2026-11-20'));
    const summaries = text.split('\r\n').filter((line) => line.startsWith('SUMMARY'));
    expect(summaries).toEqual([
      'SUMMARY:hooks deprecated',
      'SUMMARY:hooks brownout',
      'SUMMARY:hooks sunset: 410 Gone',
      'SUMMARY:hooks retired',
    ]);
  });

  it('CAT-3: is in the catalog with its guide until its sunset', async () => {
    const entry = async (instant: number) => {
      const { json } = await ask('/.well-known/api-catalog', instant);
      const { linkset } = json as unknown as { linkset: readonly { anchor: string }[] };
      return linkset.find(({ anchor }) => anchor === 'https://127.0.0.1/hooks');
    };
    expect(await entry(at('2027-01-15') - SECOND)).toMatchObject({
      'service-meta': [{ href: 'https://127.0.0.1/.well-known/lifecycle/hooks' }],
      deprecation: [{ href: 'https://docs.example.com/hooks' }],
    });
    expect(await entry(at('2027-01-15'))).toBeUndefined();
  });

  it('is served past its sunset during a pause', async () => {
    now = at('2027-01-14');
    const id = await beginPause(gateway, { api: 'hooks', until: at('2027-02-14') });
    try {
      expect((await ask('/hooks', at('2027-02-14') - SECOND)).status).toBe(200);
      expect(await stageOf('hooks', at('2027-02-14') - SECOND)).toBe('deprecated');
      expect((await ask('/hooks', at('2027-02-14'))).status).toBe(410);
    } finally {
      now = at('2027-01-14');
      await endPause(gateway, id);
    }
  });

  it('can be paused by its name, with or without the version none', async () => {
    now = at('2027-01-14');
    const environment = { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() };
    const admin = `http://127.0.0.1:${gateway.admin}`;
    const gatewayOptions = [
      '-c',
      'config/other.yaml',
      '--admin',
      admin,
      '--by',
      'maria',
      '--why',
      'checkout fails',
    ];
    const pause = (...words: readonly (string | undefined)[]) =>
      operate(['pause', ...words.filter((word) => word !== undefined), ...gatewayOptions], {
        environment,
        now: () => now,
      });
    for (const [begun, ended] of [
      [undefined, 'none'],
      ['none', undefined],
      ['none', 'none'],
    ] as const) {
      const made = await pause('hooks', begun, '--for', '2h');
      expect(made.stdout).toMatch(/^Paused brownouts and retirement of hooks until 2027-01-14T02:00:00Z\.\n/);
      const command = `sundial pause --end [0-9a-f]+ --why "…" -c config/other.yaml --admin ${admin}`;
      expect(made.stdout).toMatch(new RegExp(`End it earlier: ${command}\n`));
      const listed = await operate(['pause', '--list', '--admin', admin], { environment });
      expect(listed.stdout).toMatch(/ {2}hooks, until /);
      const gone = await pause('--end', 'hooks', ended);
      expect(gone.stdout).toMatch(/^Ended the pause of hooks that maria had made until /);
    }
    const none = await pause('orders', 'none', '--for', '2h');
    expect(none.stderr).toMatch(/^sundial: <version>: unknown version of orders \(known: /);
    const wrong = await pause('hook', '--for', '2h');
    expect(wrong.stderr).toMatch(/^sundial: <api>: unknown API \(known: .*hooks/);
  });

  it('without dates is active and not published', async () => {
    expect(told(await ask('/echo', at('2030-01-01')))).toBe('200 - - - -');
    expect((await ask('/.well-known/lifecycle/echo', at('2030-01-01'))).status).toBe(404);
    expect(await gateway.metric('sundial_api_info{api="echo",stage="active"}')).toBe(1);
    await expect(beginPause(gateway, { api: 'echo', until: now + SECOND })).rejects.toThrow(
      'an API without versions and without dates has nothing to pause',
    );
  });
});

describe('an API with versions', () => {
  it.each([
    ['2026-01-15', 'active', 'active'],
    ['2026-06-01', 'active', 'deprecated'],
    ['2027-01-15', 'deprecated', 'deprecated'],
    ['2027-06-01', 'deprecated', 'deprecated'],
    ['2027-10-01', 'deprecated', 'retired'],
  ])('has on %s the stage of its most active version, to the second', async (date, before, after) => {
    const instant = at(date);
    expect(await stageOf('orders', instant - SECOND)).toBe(before);
    expect(await stageOf('orders', instant)).toBe(after);
    expect(await stageOf('orders', instant + SECOND)).toBe(after);
  });

  it('is planned before its first release', async () => {
    expect(await stageOf('orders', at('2024-06-01') - SECOND)).toBe('planned');
    expect(await stageOf('orders', at('2024-06-01'))).toBe('active');
  });

  it.each([
    ['v1', at('2027-01-15'), 'Fri, 15 Jan 2027 00:00:00 GMT'],
    ['v2', at('2027-10-01'), 'Fri, 01 Oct 2027 00:00:00 GMT'],
  ])(
    '%s ends by its own date or by that of the API, with the guide of the API',
    async (version, ends, sunset) => {
      const path = `/api/${version}/orders`;
      const before = await ask(path, ends - SECOND);
      expect(before).toMatchObject({ status: 200, headers: { sunset } });
      expect(before.headers.link).toContain('<https://docs.example.com/orders/end>; rel="deprecation"');
      expect(await ask(path, ends)).toMatchObject({ status: 410, headers: { sunset } });
    },
  );
});
