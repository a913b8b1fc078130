// The machine's clock jumps by a second, an hour or a day, and each response is that of the instant it shows.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { beginPause } from '../support/pauses.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2026, 10, 20, 12);

const stack = new AsyncDisposableStack();
let shown = NOON;
let issuer: TestIssuer;
let gateway: RunningGateway;
let client: Client;

beforeAll(async () => {
  vi.spyOn(Date, 'now').mockImplementation(() => shown);
  stack.defer(() => void vi.restoreAllMocks());
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  gateway = stack.use(
    await runGateway({
      policies: 'clock-jumps',
      realClock: true,
      environment: { ECHO: echo.url, ISSUER: issuer.url },
    }),
  );
  client = stack.use(overHttp2(gateway.https));
  // Loads the issuer's keys before the first jump.
  const token = { authorization: `Bearer ${await issuer.sign()}` };
  await vi.waitFor(async () => expect((await askAt(0, '/api/members', token)).status).toBe(200), {
    timeout: 20_000,
  });
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  shown = NOON;
});

function askAt(jump: number, path = '/api/v1/orders/7', headers = {}): Promise<Answer> {
  shown = NOON + jump;
  return client.ask({ path, headers });
}

/** The parts of a response that depend on the instant. */
function seen({ status, headers, json }: Answer) {
  const { deprecation, sunset, 'cache-control': cache } = headers;
  return { status, deprecation, sunset, ...(status === 200 ? {} : { cache, message: json.message }) };
}

const DEPRECATED = { deprecation: '@1795174200', sunset: 'Sat, 21 Nov 2026 00:00:00 GMT' };
const GONE = { status: 410, ...DEPRECATED };
const MOMENTS: readonly (readonly [words: string, jump: number, answer: object])[] = [
  ['a day before', -DAY, { status: 200 }],
  ['an hour before', -HOUR, { status: 200 }],
  ['a second before', -SECOND, { status: 200, ...DEPRECATED }],
  ['noon', 0, { status: 200, ...DEPRECATED }],
  [
    'a second after, in a brownout,',
    SECOND,
    {
      ...GONE,
      cache: 'no-store',
      message:
        'API version v1 is in an announced brownout until 2026-11-20T12:01:01Z, and will be removed on 2026-11-21.',
    },
  ],
  ['an hour after', HOUR, { status: 200, ...DEPRECATED }],
  [
    'a day after, retired,',
    DAY,
    { ...GONE, cache: 'max-age=60', message: 'API version v1 was retired on 2026-11-21.' },
  ],
];

describe('a clock that jumps', () => {
  it.each(MOMENTS)(
    'from %s to any other instant and back, each response fits its instant',
    async (from, there, expected) => {
      for (const [to, elsewhere, other] of MOMENTS) {
        expect({ from, ...seen(await askAt(there)) }).toEqual({ from, ...expected });
        expect({ from, to, ...seen(await askAt(elsewhere)) }).toEqual({ from, to, ...other });
      }
    },
  );

  it('STAT-1: a version exists from its release on, whichever way the clock jumps', async () => {
    for (const jump of [0, -SECOND, DAY, -DAY, 0])
      expect([jump, (await askAt(jump, '/api/v2/orders')).status]).toEqual([jump, jump < 0 ? 404 : 200]);
  });

  it('published pages and metrics follow at once', async () => {
    const stageAt = async (jump: number) => {
      const { json } = await askAt(jump, '/.well-known/lifecycle/orders', { accept: 'application/json' });
      const [v1] = (json as { versions: { version: string; stage: string }[] }).versions;
      const gauge = `sundial_version_info{api="orders",version="v1",stage="${v1?.stage}",successor="v2"}`;
      return [v1?.stage, await gateway.metric(gauge)];
    };
    for (const [jump, stage] of [
      [DAY, 'retired'],
      [-DAY, 'active'],
      [DAY, 'retired'],
      [0, 'deprecated'],
    ] as const)
      expect(await stageAt(jump)).toEqual([stage, 1]);
  });

  it('a pause applies between its two instants, and the brownout after them', async () => {
    await beginPause(gateway, { api: 'orders', version: 'v1', until: NOON + 10_000 });
    const statuses: unknown[] = [];
    for (const jump of [SECOND, 11 * SECOND, SECOND, -DAY, DAY, SECOND])
      statuses.push((await askAt(jump)).status);
    expect(statuses).toEqual([200, 410, 200, 200, 410, 200]);
  });
});

describe('a caller with a token, when the clock jumps', () => {
  const holding = async (id: string) => ({
    authorization: `Bearer ${await issuer.sign({ sub: id, client_id: id })}`,
  });
  const versionAt = async (jump: number, headers: Record<string, string>) => {
    const { status, json } = await askAt(jump, '/api/members', headers);
    if (status !== 200) return status;
    return (json.headers as [string, string][]).find(([name]) => name.toLowerCase() === 'api-version')?.[1];
  };

  it('JWT-8: a token is valid between its two instants, also after the clock has jumped', async () => {
    const token = await holding('clocked');
    const statuses: unknown[] = [];
    for (const jump of [0, SECOND, -SECOND, DAY, 0, -DAY, 0])
      statuses.push((await askAt(jump, '/api/members', { ...token, 'API-Version': '2026-06-01' })).status);
    expect(statuses).toEqual([200, 200, 200, 401, 200, 401, 200]);
  });

  it('a new key is fetched at once after the clock went back a day', async () => {
    shown = NOON + DAY;
    expect(await versionAt(DAY, await holding('before'))).toBe('2026-11-21');
    shown = NOON;
    await issuer.rotate();
    expect(await versionAt(0, await holding('after'))).toBe('2026-06-01');
  });

  it('VER-5: an account stays on its first version; before its release it gets 400', async () => {
    const token = await holding('pinned');
    expect(await versionAt(0, token)).toBe('2026-06-01');
    shown = NOON + DAY;
    expect(await versionAt(DAY, await holding('pinned'))).toBe('2026-06-01');
    expect(await versionAt(DAY, await holding('early'))).toBe('2026-11-21');
    shown = NOON;
    const answer = await askAt(0, '/api/members', await holding('early'));
    expect(answer).toMatchObject({
      status: 400,
      json: {
        message: 'There is no such version: "2026-11-21" in the pin of this account. Versions: 2026-06-01.',
      },
    });
    expect(await versionAt(0, token)).toBe('2026-06-01');
  });

  it('RL-8: a clock jump neither refills a limit nor blocks a consumer for longer', async () => {
    const token = { ...(await holding('limited')), 'API-Version': '2026-06-01' };
    for (let call = 0; call < 5; call += 1) await askAt(0, '/api/members', token);
    for (const jump of [0, HOUR - 60 * SECOND, -20 * SECOND, 0]) {
      const { status, headers } = await askAt(jump, '/api/members', token);
      expect([jump, status, headers['x-ratelimit-remaining']]).toEqual([jump, 429, '0']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(600);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(720);
    }
  });
});

describe('the gateway, when the clock jumps', () => {
  it('sets no timer that overflows, and no growing number of timers', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
    const set = vi.spyOn(globalThis, 'setTimeout');
    const countAt = async (jump: number): Promise<number> => {
      await askAt(jump);
      set.mockClear();
      for (let call = 0; call < 20; call += 1) await askAt(jump);
      return set.mock.calls.length;
    };
    const before = { set: await countAt(0), active: timers() };
    for (const jump of [DAY, -DAY, 400 * DAY, -400 * DAY, 0])
      expect(await countAt(jump)).toBeLessThanOrEqual(before.set + 20);
    expect(timers()).toBeLessThanOrEqual(before.active + 10);
    for (const [, delay = 0] of set.mock.calls) expect(delay).toBeLessThanOrEqual(DAY);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});
