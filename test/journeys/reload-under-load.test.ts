// Reloads under load, over every protocol: no request is lost or sent twice, and no bad file changes anything.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { BAD_POLICIES } from '../support/bad-policies.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { closeCode } from '../support/websocket-frames.ts';
import { startWebSocketUpstream } from '../support/websocket-upstream.ts';

const stack = new AsyncDisposableStack();
const SUCCESSFUL = 'sundial_config_last_reload_successful';
let gateway: RunningGateway;
let folder = '';
let template = '';

const goodFile = (edition: number) => template.replaceAll('EDITION', String(edition));
const save = (text: string, file = 'orders') => writeFile(join(folder, `${file}.yaml`), text);
const live = (api: string) => `api: ${api}
base: /api/${api}
access: public
upstreams: { whole: { targets: ["\${env:SOCKETS}"], path: /live } }
versions: none
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-reload-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await cp(join(import.meta.dirname, 'gateway.yaml'), join(folder, 'gateway.yml'));
  template = await readFile(join(import.meta.dirname, 'reload/orders.yaml.template'), 'utf8');
  await Promise.all([save(goodFile(100)), save(live('live'), 'live'), save(live('leaving'), 'leaving')]);
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const sockets = stack.use(await startWebSocketUpstream());
  gateway = stack.use(
    await runGateway({
      reloadThread: true,
      config: join(folder, 'gateway.yml'),
      policies: folder,
      environment: { ECHO: echo.url, SOCKETS: sockets.url },
    }),
  );
});
afterAll(() => stack.disposeAsync());

/** Sends requests until it is stopped. Rejects with the first response other than 200. */
function load(connect: (port: number) => Client, method: string) {
  let running = true;
  let answered = 0;
  const ended = (async () => {
    await using client = connect(gateway.https);
    while (running) {
      const asked = Array.from({ length: 4 }, () => client.ask({ method, path: '/api/v2/orders' }));
      for (const { status } of await Promise.all(asked)) {
        if (status !== 200) throw new Error(`lost: ${method} ${status}`);
        answered += 1;
      }
      // About 400 requests a second in all, so that the reloads get CPU time.
      await setTimeout(40);
    }
    return answered;
  })();
  ended.catch(() => undefined);
  return {
    stop: () => {
      running = false;
      return ended;
    },
  };
}

const LOADS = [
  [overHttp1, 'GET'],
  [overHttp1, 'POST'],
  [overHttp2, 'GET'],
  [overHttp2, 'POST'],
] as const;

describe('reloads under load', () => {
  it('twenty of them lose no request and close no WebSocket of a remaining route', async () => {
    await using staying = await openWebSocket(gateway.https, '/api/live');
    await using leaving = await openWebSocket(gateway.https, '/api/leaving');
    expect([staying.status, leaving.status]).toEqual([101, 101]);
    const loads = LOADS.map(([connect, method]) => load(connect, method));
    for (let edition = 101; edition <= 120; edition += 1) {
      await save(goodFile(edition));
      expect(await gateway.reload()).toMatchObject({ problems: [] });
      staying.send(String(edition));
    }
    const frames = await staying.received(20);
    expect(frames.map(({ payload }) => String(payload))).toEqual(
      Array.from({ length: 20 }, (_, index) => String(101 + index)),
    );
    await rm(join(folder, 'leaving.yaml'));
    await gateway.reload();
    expect((await leaving.received(1)).map(closeCode)).toEqual([1001]);
    for (const { stop } of loads) expect(await stop()).toBeGreaterThan(20);
    staying.send('still there');
    expect(await staying.received(21)).toHaveLength(21);
  }, 60_000);

  it('345 bad files change nothing, and each is rejected', async () => {
    const good = goodFile(121);
    await save(good);
    const loads = LOADS.map(([connect, method]) => load(connect, method));
    const { revision } = await gateway.reload();
    for (let bad = 0; bad < 345; bad += 1) {
      const fault = BAD_POLICIES[bad % BAD_POLICIES.length];
      await save(fault?.(good, 1 + Math.floor(bad / BAD_POLICIES.length)) ?? '');
      const outcome = await gateway.reload();
      expect({ bad, ...outcome }).toMatchObject({ bad, kind: 'rejected', revision });
      if (bad % 50 === 0) expect(await gateway.metric(SUCCESSFUL)).toBe(0);
    }
    for (const { stop } of loads) expect(await stop()).toBeGreaterThan(20);
    await save(good);
    expect(await gateway.reload()).toMatchObject({ kind: 'unchanged', revision });
    expect(await gateway.metric(SUCCESSFUL)).toBe(1);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  }, 120_000);
});
