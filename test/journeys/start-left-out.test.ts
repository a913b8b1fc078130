// `start: partial` closes the routes of an omitted API with 503, in any spelling, even if another API is there.
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunningGateway } from '../support/gateway.ts';
import { freePorts } from '../support/ports.ts';
import { askPath, folderForEachTest, plainApi } from '../support/published-folder.ts';

const folder = folderForEachTest();

const OUTER = plainApi('outer', '/mono');
const INNER = `api: inner
base: /mono/secure
access: { identity: main, scopes: any }
versions: none
headers: { request: { set: { X-Tenant: "\${env:TENANT:-acme}" } } }
upstreams: { any: { targets: ["\${env:ECHO}"], path: /echo/secure } }
`;
const NEEDS_VARIABLE = INNER.replace(':-acme', '');
const BROKEN = 'api: inner\nbase: [/mono/secure\n';
const OTHER = plainApi('other', '/other');
const PARTIAL = { START: 'partial' };
const statusOf = async (gateway: RunningGateway, path: string, headers = {}) =>
  (await askPath(gateway, path, headers)).status;

describe.each([
  { store: 'the embedded store', workers: '1', redis: false },
  { store: 'Redis', workers: '2', redis: true },
])('on $store with $workers workers', ({ workers, redis }) => {
  let environment: Record<string, string> = {};
  beforeEach(async () => {
    environment = { ...PARTIAL, WORKERS: workers, ...(await folder.storeOf(redis)) };
  });

  it('ERR-5: a nested API with a missing variable gets 503, and works once its file is fixed', async () => {
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(NEEDS_VARIABLE, 'inner.yaml');
    await folder.publish({ ...environment, TENANT: 'acme' });
    await using gateway = await folder.start(environment);
    const closed = await askPath(gateway, '/mono/secure/x');
    expect(closed.status).toBe(503);
    expect(closed.json).toMatchObject({
      error: 'Service Unavailable',
      message: 'The policy of this API is not in force right now.',
      retryAfter: 60,
      estimatedRestoration: expect.any(String),
    });
    expect(closed.headers['retry-after']).toBe('60');
    expect(await gateway.accessLine(closed.headers['x-request-id'])).toMatchObject({
      api: 'inner',
      refusal: 'api_left_out',
    });
    expect(await statusOf(gateway, '/mono/other')).toBe(200);
    expect(await statusOf(gateway, '/api/v2/orders')).toBe(200);
    await folder.save(INNER, 'inner.yaml');
    await gateway.reload();
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(401);
  });

  it('a nested API stays protected if its renamed file breaks and another takes the old name', async () => {
    const accepted = { ...environment, START: 'accepted' };
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(INNER, 'inner.yaml');
    await folder.save(OTHER, 'other.yaml');
    await folder.publish(accepted);
    await folder.save(OTHER, 'inner.yaml');
    await folder.save(BROKEN, 'other.yaml');
    await folder.publish(accepted);
    await using gateway = await folder.start(accepted);
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(401);
    expect(await statusOf(gateway, '/mono/SECURE/x')).toBe(401);
    expect(await statusOf(gateway, '/other/x')).toBe(200);
    expect(gateway.log.find(({ api }) => api === 'inner')).toMatchObject({
      message: expect.stringContaining('the last accepted form of the API is served'),
      file: expect.stringMatching(/other\.yaml$/),
    });
    await folder.save(INNER, 'other.yaml');
    expect(await gateway.reload()).toMatchObject({ quarantined: [] });
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(401);
  });

  it('a first start serves the APIs whose files are accepted, and closes the others', async () => {
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(NEEDS_VARIABLE, 'inner.yaml');
    await using gateway = await folder.start(environment);
    expect(await statusOf(gateway, '/api/v2/orders')).toBe(200);
    expect(await statusOf(gateway, '/mono/other')).toBe(200);
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(503);
    await folder.save(INNER, 'inner.yaml');
    expect(await gateway.reload()).toMatchObject({ quarantined: [] });
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(401);
  });
});

describe('the routes of an API that is left out', () => {
  /** Its file was accepted once and is refused now. */
  const startWith = async (inner: string, refused: string) => {
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(inner, 'inner.yaml');
    await folder.publish({ TENANT: 'acme' });
    await folder.save(refused, 'inner.yaml');
    return folder.start(PARTIAL);
  };

  it('VER-7: get 503 in every reading of a service', async () => {
    await using gateway = await startWith(NEEDS_VARIABLE, NEEDS_VARIABLE);
    const readings = ['', '/x', '%2Fx'].map((rest) => `/mono/secure${rest}`);
    for (const path of [...readings, '/mono/SECURE/x', '/mono/%73ecure/x'])
      expect([path, await statusOf(gateway, path)]).toEqual([path, 503]);
  });

  it.each([
    ['that is not YAML', BROKEN],
    ['without its base', NEEDS_VARIABLE.replace('base: /mono/secure\n', '')],
    ['with another base', `${NEEDS_VARIABLE.replace('/mono/secure', '/elsewhere')}unknwn: 1\n`],
    ['with another name', `${NEEDS_VARIABLE.replace('api: inner', 'api: Inner!')}`],
  ])('are those of the accepted form for a file %s', async (_, refused) => {
    await using gateway = await startWith(NEEDS_VARIABLE, refused);
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(503);
  });

  it('include those that the refused file adds', async () => {
    const more = `${NEEDS_VARIABLE.replace('/mono/secure', '/mono/added')}unknwn: 1\n`;
    await using gateway = await startWith(NEEDS_VARIABLE, more);
    expect(await statusOf(gateway, '/mono/added/x')).toBe(503);
  });

  it('lie on the hosts of the API, with the version in the path or in the host', async () => {
    const hosted = (text: string, base: string) =>
      text
        .replace(
          'versions: none\n',
          `host: inner.test
resolve: [ { path: "/{version}${base}" }, { subdomain: "{version}.inner.test" }, { default: v1 } ]
versions: { v1: { released: 2020-01-01 } }
`,
        )
        .replace('any: {', 'v1: {');
    await folder.save(hosted(OUTER, '/mono'), 'outer.yaml');
    await folder.save(hosted(NEEDS_VARIABLE, '/mono/secure'), 'inner.yaml');
    await using gateway = await folder.start(PARTIAL);
    const at = (host: string, path: string) => statusOf(gateway, path, { host });
    expect(await at('inner.test', '/mono/x')).toBe(200);
    expect(await at('inner.test', '/mono/secure/x')).toBe(503);
    expect(await at('inner.test', '/v1/mono/secure/x')).toBe(503);
    expect(await at('v1.inner.test', '/mono/secure/x')).toBe(503);
    expect(await at('127.0.0.1', '/mono/secure/x')).toBe(404);
  });

  it('go to an accepted file that claims them', async () => {
    await folder.save(plainApi('heir', '/mono/secure'), 'heir.yaml');
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(NEEDS_VARIABLE, 'inner.yaml');
    await using gateway = await folder.start(PARTIAL);
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(200);
  });

  it('stay closed after further restarts', async () => {
    {
      await using gateway = await startWith(NEEDS_VARIABLE, BROKEN);
      expect(await statusOf(gateway, '/mono/secure/x')).toBe(503);
    }
    await using gateway = await folder.start(PARTIAL);
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(503);
  });

  it('stay closed if another API takes the name of the file', async () => {
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(NEEDS_VARIABLE, 'inner.yaml');
    await folder.save(OTHER, 'other.yaml');
    await folder.publish({ TENANT: 'acme' });
    await folder.save(OTHER, 'inner.yaml');
    await folder.save(BROKEN, 'other.yaml');
    await folder.publish(PARTIAL);
    await using gateway = await folder.start(PARTIAL);
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(503);
    expect(await statusOf(gateway, '/other/x')).toBe(200);
  });

  it('stay closed at a reload that swaps two files while another API is quarantined', async () => {
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(INNER, 'inner.yaml');
    await folder.save(OTHER, 'other.yaml');
    await folder.publish();
    await folder.save(folder.orders.replace('access: public\n', ''));
    await using gateway = await folder.start();
    await folder.save(OTHER, 'inner.yaml');
    await folder.save(BROKEN, 'other.yaml');
    await gateway.reload();
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(401);
  });

  it('are in no list of APIs', async () => {
    await using gateway = await startWith(NEEDS_VARIABLE, NEEDS_VARIABLE);
    const catalog = await askPath(gateway, '/.well-known/api-catalog');
    expect(catalog.text).toContain('/mono');
    expect(catalog.text).not.toContain('secure');
    expect(await statusOf(gateway, '/.well-known/lifecycle/inner')).toBe(404);
  });
});

describe('a start without its store', () => {
  it('serves the APIs whose files are accepted, and closes the others until the store is back', async () => {
    const [port] = await freePorts(1);
    const away = { ...PARTIAL, STORE: `redis://127.0.0.1:${port}` };
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(NEEDS_VARIABLE, 'inner.yaml');
    await using gateway = await folder.start(away);
    expect(await statusOf(gateway, '/mono/other')).toBe(200);
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(503);
    await folder.save(`${OUTER}# changed\n`, 'outer.yaml');
    expect(await gateway.reload()).toMatchObject({ kind: 'rejected' });
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(503);
  });
});

describe('a file whose routes are unknown', () => {
  it.each([
    ['is not YAML', BROKEN],
    ['has no readable base', `${INNER.replace('base: /mono/secure', 'base: 7')}`],
    ['takes its base from a missing variable', INNER.replace('base: /mono/secure', `base: "\${env:BASE}"`)],
    ['takes its host from a missing variable', `${INNER}host: "\${env:HOST_NAME}"\n`],
    ['has a malformed route', `${INNER}resolve: [ { path: 7 } ]\n`],
  ])('because it %s stops a start on an empty store', async (_, refused) => {
    await folder.save(refused, 'inner.yaml');
    await expect(folder.start(PARTIAL)).rejects.toThrow(
      /inner\.yaml:1:1: error: the routes of this file are unknown/,
    );
  });

  it('stops a start if the routes of its accepted form are unknown too', async () => {
    await folder.save(INNER.replace('base: /mono/secure', `base: "\${env:BASE}"`), 'inner.yaml');
    await folder.publish({ BASE: '/mono/secure' });
    await expect(folder.start(PARTIAL)).rejects.toThrow(/inner\.yaml:1:1: error: the routes of this file/);
  });

  it('is taken for a recorded API that is in no other file, which is served as accepted', async () => {
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(INNER, 'inner.yaml');
    await folder.publish();
    await folder.remove('inner.yaml');
    await folder.save(BROKEN, 'renamed.yaml');
    await using gateway = await folder.start();
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(401);
  });

  it('is taken for the only API that is left if both files were renamed', async () => {
    await folder.save(OUTER, 'outer.yaml');
    await folder.save(INNER, 'inner.yaml');
    await folder.save(OTHER, 'other.yaml');
    await folder.publish();
    await folder.remove('inner.yaml');
    await folder.save(`${INNER}unknwn: 1\n`, 'other.yaml');
    await folder.save(OTHER.replace('access', '\taccess'), 'renamed.yaml');
    await using gateway = await folder.start();
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(401);
    expect(await statusOf(gateway, '/other/x')).toBe(200);
  });

  it('stops a start even if every recorded API is served', async () => {
    await folder.save(OUTER, 'outer.yaml');
    await folder.publish();
    await folder.save(BROKEN, 'inner.yaml');
    await expect(folder.start(PARTIAL)).rejects.toThrow(/inner\.yaml:1:1: error: the routes of this file/);
  });
});
