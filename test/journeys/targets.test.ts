// Several targets per upstream over real sockets: killed and restarted, checked, ejected, tried again.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { expectNothingOfTheCause } from '../support/inside.ts';
import { type NamedService, namedService } from '../support/named-service.ts';
import { freePorts } from '../support/ports.ts';
import { openWebSocket } from '../support/websocket-client.ts';

const stack = new AsyncDisposableStack();
const NAMES = ['one', 'two', 'three', 'four', 'five'] as const;
const services = new Map<string, NamedService>();
let gateway: RunningGateway;
let client: Client;

beforeAll(async () => {
  for (const name of NAMES) {
    const service = stack.use(await namedService(name));
    await service.comeBack();
    services.set(name, service);
  }
  const urls = NAMES.map((name) => [name.toUpperCase(), service(name).url] as const);
  const [nobody, noone] = await freePorts(2);
  gateway = stack.use(
    await runGateway({
      policies: 'targets',
      environment: {
        ...Object.fromEntries(urls),
        NOBODY: `http://127.0.0.1:${nobody}`,
        NOONE: `http://127.0.0.1:${noone}`,
      },
    }),
  );
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

function service(name: (typeof NAMES)[number]): NamedService {
  const found = services.get(name);
  if (found === undefined) throw new Error(name);
  return found;
}

const ask = (path: string): Promise<Answer> => client.ask({ path });
const askTimes = (count: number, path: string): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, () => ask(path)));
const textsOf = (answers: readonly Answer[]): string[] => answers.map(({ text }) => text);
const up = (upstream: string, name: (typeof NAMES)[number]) =>
  gateway.metric(`sundial_upstream_up{upstream="${upstream}",target="${service(name).url}"}`);
/** Waits for the effect of the next check or attempt, each of which comes within a second or two. */
const soon = <T>(look: () => Promise<T> | T): Promise<T> =>
  vi.waitFor(look, { timeout: 20_000, interval: 20 });

describe('a target without health checks and breaker', () => {
  it('is reported as failing from its fifth failure on, and still gets requests', async () => {
    await using admin = overHttp1(gateway.admin, { tls: false });
    const target = async () => {
      const { json } = await admin.ask({ path: '/-/upstreams' });
      const { upstreams } = json as {
        upstreams: readonly { upstream: string; targets: readonly object[] }[];
      };
      return upstreams.find(({ upstream }) => upstream === 'unwatched')?.targets[0];
    };
    await askTimes(4, '/api/unwatched');
    expect(await target()).toMatchObject({ up: null, recent: { calls: 4, failed: 4 }, failing: null });
    const [answer] = await askTimes(1, '/api/unwatched');
    expect(answer?.status).toBe(502);
    expect(await target()).toMatchObject({
      up: null,
      recent: { calls: 5, failed: 5 },
      failing: { share: 1, error: 'refused', since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) },
    });
    expect((await ask('/api/unwatched')).status).toBe(502);
  });
});

describe('of two targets with health checks', () => {
  it('both serve while both are healthy', async () => {
    const texts = textsOf(await askTimes(10, '/api/checked'));
    expect(texts.toSorted()).toEqual([...Array(5).fill('one'), ...Array(5).fill('two')]);
    await soon(() => expect(service('one').checks()).toBeGreaterThan(1));
  });

  it('a killed one fails no GET, leaves after its checks, and returns when they succeed', async () => {
    await service('two').kill();
    const answers = await askTimes(8, '/api/checked');
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['200 one']));
    await soon(async () => expect(await up('checked', 'two')).toBe(0));
    expect(await up('checked', 'one')).toBe(1);
    expect(gateway.log).toContainEqual(
      expect.objectContaining({
        message: 'a target fails its health checks',
        upstream: 'checked',
        target: service('two').url,
        reason: 'ECONNREFUSED',
      }),
    );
    await service('two').comeBack();
    await soon(async () => expect(await up('checked', 'two')).toBe(1));
    expect(new Set(textsOf(await askTimes(4, '/api/checked')))).toEqual(new Set(['one', 'two']));
  });

  it('one with failing checks gets no requests, even after a reload', async () => {
    service('one').feel(503);
    await soon(async () => expect(await up('checked', 'one')).toBe(0));
    const before = service('one').answered();
    await gateway.reload();
    expect(new Set(textsOf(await askTimes(10, '/api/checked')))).toEqual(new Set(['two']));
    expect(service('one').answered()).toBe(before);
    service('one').feel(200);
    await soon(async () => expect(await up('checked', 'one')).toBe(1));
  });

  it('FWD-18: if both are out, requests get 503 upstream_unavailable with Retry-After', async () => {
    for (const name of ['one', 'two'] as const) service(name).feel(500);
    const answer = await soon(async () => {
      const asked = await ask('/api/checked');
      expect(asked.status).toBe(503);
      return asked;
    });
    expect(answer.headers).toMatchObject({
      'retry-after': '1',
      'cache-control': 'no-store',
      'proxy-status': 'sundial; error=destination_unavailable; next-hop=checked',
    });
    expect(answer.json).toEqual({
      error: 'Service Unavailable',
      message: 'The checked service is out of service right now.',
      retryAfter: 1,
      estimatedRestoration: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expectNothingOfTheCause(answer);
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ fault: 'upstream_unavailable', status: 503 });
    using handshake = await openWebSocket(gateway.https, '/api/checked');
    expect([handshake.status, handshake.headers['retry-after']]).toEqual([503, '1']);
    for (const name of ['one', 'two'] as const) service(name).feel(200);
    await soon(async () => expect((await ask('/api/checked')).status).toBe(200));
  });
});

describe('a breaker', () => {
  it('opens after failures in a row, answers 503, and closes when one request succeeds', async () => {
    await service('three').kill();
    const failed = [await ask('/api/guarded'), await ask('/api/guarded')];
    expect(failed.map(({ status }) => status)).toEqual([502, 502]);
    expect(await ask('/api/guarded')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    await service('three').comeBack();
    await soon(async () => expect(await ask('/api/guarded')).toMatchObject({ status: 200, text: 'three' }));
    const ejections = `sundial_upstream_ejections_total{upstream="guarded",target="${service('three').url}",reason="breaker"}`;
    expect(await gateway.metric(ejections)).toBe(1);
    const said = gateway.log.filter(({ upstream }) => upstream === 'guarded').map(({ message }) => message);
    expect(said).toContain('a target is taken out of service: its requests fail');
    expect(said.at(-1)).toBe('a target answers again');
  });

  it('that is not configured never takes out the last targets', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 20; index += 1) statuses.push((await ask('/api/hopeless')).status);
    expect(new Set(statuses)).toEqual(new Set([502]));
  });
});

describe('a caller with a fixed target', () => {
  it('keeps its target, uses the other while it is down, and returns to it', async () => {
    const [own] = new Set(textsOf(await askTimes(10, '/api/steady')));
    if (own !== 'four' && own !== 'five') throw new Error(own);
    const other = own === 'four' ? 'five' : 'four';
    expect(service(other).answered()).toBe(0);
    await service(own).kill();
    await soon(async () => expect((await ask('/api/steady')).text).toBe(other));
    await service(own).comeBack();
    expect(service(own).answered()).toBe(10);
  });
});
