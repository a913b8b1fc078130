// Published dates are binding: a reload and the next start find rewritten ones, on either store.
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { startProcess } from '../support/gateway-process.ts';
import { overHttp1 } from '../support/http-client.ts';
import { startRedis } from '../support/redis-server.ts';

const stack = new AsyncDisposableStack();
let perTest = new AsyncDisposableStack();
let echo: Service;
let folder = '';
let published = '';

beforeAll(async () => {
  echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  perTest = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'sundial-published-'));
  perTest.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(import.meta.dirname, 'published-schedules/orders.yaml');
  await copyFile(file, join(folder, 'orders.yaml'));
  published = await readFile(file, 'utf8');
});
afterEach(() => perTest.disposeAsync());

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  DATA: join(folder, 'data'),
  STORE: `embedded:${join(folder, 'data')}`,
  ISSUER: 'http://127.0.0.1:9',
  POLICIES: join(folder, '*.yaml'),
  ECHO: echo.url,
  ...more,
});
const start = (more?: Readonly<Record<string, string>>): Promise<RunningGateway> =>
  runGateway({ realClock: true, environment: environment(more) });
const STRICT = { START: 'strict' };
const rehearse = (day: number): Promise<RunningGateway> =>
  runGateway({ lifecycleNow: () => day, environment: environment(STRICT) });

/** Moves the policies away and puts an unrelated API in their place. */
async function leaveOut(): Promise<void> {
  const other = 'api: other\nbase: /other\naccess: public\nversions: none\n';
  await writeFile(join(folder, 'other.yaml'), `${other}upstreams: { any: { targets: ["\${env:ECHO}"] } }\n`);
  await rename(join(folder, 'orders.yaml'), join(folder, 'orders.yaml.away'));
}
/** Atomic, because the file watcher must not read half a file. */
const save = async (text: string) => {
  await writeFile(join(folder, 'orders.next'), text);
  await rename(join(folder, 'orders.next'), join(folder, 'orders.yaml'));
};
const earlier = () => published.replace('sunset: 2999-01-15', 'sunset: 2998-12-31');
const extended = () =>
  published.replace(
    '    guide:',
    '    extended: [ { to: 2999-04-15, announced: 2026-01-01, why: acme is still migrating } ]\n    guide:',
  );
/** The same API without versions. */
const withoutVersions = (sunset: string) => `api: orders
base: /api/orders
access: public
deprecated: 2021-01-15
sunset: ${sunset}
guide: https://docs.example.com/v1-to-v2
upstreams: { any: { targets: ["\${env:ECHO}"], path: /echo } }
versions: none
`;
const REWRITTEN = 'the sunset of v1 was published as 2999-01-15 and is now earlier';
const WAYS_OUT =
  /sunset 2999-01-15 or later; to publish the change anyway: sundial accept orders v1 --why "…"/;

const messages = (gateway: RunningGateway) => gateway.log.map(({ message }) => String(message));

async function sunsetOf(gateway: RunningGateway): Promise<string | undefined> {
  await using client = overHttp1(gateway.https);
  return (await client.ask({ path: '/api/v1/orders' })).headers.sunset;
}

/** Starts a gateway, which publishes the file, and stops it. */
async function publish(more?: Readonly<Record<string, string>>): Promise<void> {
  await using _gateway = await start(more);
}

describe('a reload', () => {
  it('with an earlier sunset is rejected; the log has the reason and both remedies', async () => {
    await using gateway = await start();
    await save(earlier());
    await gateway.reload();
    expect(messages(gateway).find((each) => each.includes(REWRITTEN))).toMatch(WAYS_OUT);
    expect(await sunsetOf(gateway)).toBe('Tue, 15 Jan 2999 00:00:00 GMT');
    expect(await gateway.metric('sundial_config_last_reload_successful')).toBe(0);
    await save(withoutVersions('2998-12-31'));
    await gateway.reload();
    expect(await sunsetOf(gateway)).toBe('Tue, 15 Jan 2999 00:00:00 GMT');
    await save(extended());
    await gateway.reload();
    expect(await sunsetOf(gateway)).toBe('Mon, 15 Apr 2999 00:00:00 GMT');
    expect(await gateway.metric('sundial_config_last_reload_successful')).toBe(1);
  });

  it('that hides published dates until a later announcement is reported as a rewrite', async () => {
    const ahead = published.replace('deprecated: 2021-01-15', 'deprecated: 2998-01-15');
    await save(ahead);
    await using gateway = await start();
    await save(ahead.replace('deprecated:', 'announced: 2997-12-01\n    deprecated:'));
    await gateway.reload();
    expect(messages(gateway).join('\n')).toContain(
      'deprecated and sunset of v1 were published and are hidden until 2997-12-01',
    );
  });

  it('cannot bring back a removed file with an earlier sunset', async () => {
    await using gateway = await start();
    await leaveOut();
    await gateway.reload();
    await gateway.reload();
    expect(messages(gateway).join('\n')).toContain('this API was published (v1, v2)');
    await save(earlier());
    await gateway.reload();
    expect(messages(gateway).find((each) => each.includes(REWRITTEN))).toMatch(WAYS_OUT);
    await save(`${earlier()}rules: { sunset-rewritten: warning }\n`);
    await gateway.reload();
    await save(earlier());
    await gateway.reload();
    expect(await sunsetOf(gateway)).toBe('Mon, 31 Dec 2998 00:00:00 GMT');
    expect(await gateway.metric('sundial_config_last_reload_successful')).toBe(1);
  });

  it('may change a planned version, and binds the dates that it publishes', async () => {
    await using gateway = await start();
    await save(extended().replace('released: 2998-01-15', 'released: 2998-03-01'));
    await gateway.reload();
    expect(await gateway.metric('sundial_config_last_reload_successful')).toBe(1);
    await save(published);
    await gateway.reload();
    // Logged again if the file watcher reads the files too.
    const said = new Set(messages(gateway).filter((each) => each.startsWith('policies not reloaded')));
    expect([...said]).toEqual([
      expect.stringContaining('the sunset of v1 was published as 2999-04-15 and is now earlier'),
    ]);
  });
});

describe('a start', () => {
  it('with start: strict and an earlier sunset exits with 1, the position and both remedies', async () => {
    await publish();
    await save(earlier());
    const refused = perTest.use(
      startProcess(['run', '-c', 'test/journeys/gateway.yaml'], environment(STRICT)),
    );
    expect(await refused.ended).toBe(1);
    expect(refused.stderr).toMatch(
      /orders\.yaml:14:13: error: the sunset of v1 was published as 2999-01-15 and is now earlier \[sunset-rewritten\]\n/,
    );
    expect(refused.stderr).toMatch(WAYS_OUT);
  });

  it('publishes an earlier date if the policy makes the rule a warning', async () => {
    await publish();
    await save(`${earlier()}rules: { sunset-rewritten: warning }\n`);
    await publish();
    await save(earlier());
    await publish();
    await save(earlier().replace('2998-12-31', '2998-11-30'));
    await expect(start(STRICT)).rejects.toThrow('was published as 2998-12-31 and is now earlier');
  });

  it('with a moved clock obeys published dates, and publishes none itself', async () => {
    const day = Date.UTC(2998, 5, 1);
    await (await rehearse(day))[Symbol.asyncDispose]();
    await save(earlier());
    await publish();
    await save(earlier().replace('2998-12-31', '2998-11-30'));
    await expect(rehearse(day)).rejects.toThrow('was published as 2998-12-31 and is now earlier');
  });
});

describe('on Redis', () => {
  it('a gateway obeys dates that another one published, even if the API was removed since', async () => {
    const redis = await startRedis();
    perTest.defer(redis.stop);
    await publish({ STORE: redis.url });
    await leaveOut();
    await publish({ STORE: redis.url });
    await save(earlier());
    await expect(start({ STORE: redis.url, ...STRICT })).rejects.toThrow(REWRITTEN);
  });

  it('an unavailable store causes one warning each time, and blocks no start or reload', async () => {
    const redis = await startRedis();
    await publish({ STORE: redis.url });
    await redis.stop();
    await save(earlier());
    await using gateway = await start({ STORE: redis.url });
    expect(await sunsetOf(gateway)).toBe('Mon, 31 Dec 2998 00:00:00 GMT');
    await save(earlier().replace('2998-12-31', '2998-11-30'));
    await gateway.reload();
    expect(await sunsetOf(gateway)).toBe('Fri, 30 Nov 2998 00:00:00 GMT');
    const warnings = messages(gateway).filter((each) => each.includes('published'));
    expect(new Set(warnings)).toEqual(
      new Set(['the store is unavailable; published schedules are not compared']),
    );
    // At the start, when the file watcher begins, and at the reload.
    expect(warnings.length).toBeLessThanOrEqual(3);

    const back = await startRedis({ port: redis.port });
    perTest.defer(back.stop);
    await vi.waitFor(async () => expect(await gateway.metric('sundial_store_up{store="redis"}')).toBe(1), {
      timeout: 30_000,
    });
    await save(extended());
    await gateway.reload();
    await save(published);
    await gateway.reload();
    expect(messages(gateway).at(-1)).toContain(
      'the sunset of v1 was published as 2999-04-15 and is now earlier',
    );
  });
});
