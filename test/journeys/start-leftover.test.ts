// A start with refused files that no API depends on, such as broken copies: it reports them and succeeds.
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunningGateway } from '../support/gateway.ts';
import { askPath, folderForEachTest, plainApi, readyOf } from '../support/published-folder.ts';

const folder = folderForEachTest();

const statusOf = async (gateway: RunningGateway, path: string) => (await askPath(gateway, path)).status;
const refusedSunset = () => folder.orders.replace('2999-01-15', '2998-12-31');

describe.each([
  { store: 'the embedded store', redis: false },
  { store: 'Redis', redis: true },
])('a leftover file on $store', ({ redis }) => {
  let environment: Readonly<Record<string, string>> = {};
  beforeEach(async () => {
    environment = await folder.storeOf(redis);
  });

  const leftovers: readonly (readonly [string, () => string])[] = [
    ['with an unknown key', () => `${folder.orders}unknwn: 1\n`],
    ['without a required key', () => folder.orders.replace('access: public\n', '')],
    ['that is valid, and claims the same API', () => folder.orders],
    ['that is valid, and claims the same API elsewhere', () => folder.orders.replaceAll('/orders', '/old')],
  ];
  // Leftover files do not depend on the store.
  it.each(redis ? leftovers.slice(0, 1) : leftovers)(
    '%s does not stop the start, because another file serves its API',
    async (_, text) => {
      await folder.publish(environment);
      await folder.save(text(), 'orders-old.yaml');
      await using gateway = await folder.start(environment);
      expect(await statusOf(gateway, '/api/v1/orders')).toBe(200);
      expect((await readyOf(gateway)).json).toMatchObject({
        status: 'ready',
        detail: 'last reload refused, left out: orders-old.yaml',
        leftOut: ['orders-old.yaml'],
      });
      expect(gateway.log.find(({ api }) => api === 'orders-old.yaml')).toMatchObject({
        level: 'error',
        message: 'policy file left out: it is refused, and another file serves its API',
        reason: expect.stringContaining('orders-old.yaml:'),
      });
      expect(await gateway.metric('sundial_policy_quarantined{api="orders-old.yaml"}')).toBe(2);
      await folder.remove('orders-old.yaml');
      expect(await gateway.reload()).toMatchObject({ quarantined: [] });
    },
  );

  it('that is not YAML stops the start, even under the old name of a served API', async () => {
    await folder.save(plainApi('moved', '/moved'), 'before.yaml');
    await folder.publish(environment);
    await folder.save('api: [\n', 'before.yaml');
    await folder.save(plainApi('moved', '/moved'), 'after.yaml');
    await expect(folder.start(environment)).rejects.toThrow(
      /before\.yaml:1:1: error: the routes of this file are unknown[\s\S]*move it out of the folder/,
    );
  });

  it('has closed routes, except below the routes of its API', async () => {
    await folder.save(plainApi('outer', '/mono'), 'outer.yaml');
    await folder.save(plainApi('moved', '/moved'), 'moved.yaml');
    await folder.publish(environment);
    await folder.save(`${plainApi('moved', '/mono/secure')}unknwn: 1\n`, 'one.yaml');
    await folder.save(`${plainApi('moved', '/moved/old')}unknwn: 1\n`, 'two.yaml');
    await using gateway = await folder.start(environment);
    expect(await statusOf(gateway, '/mono/secure/x')).toBe(503);
    expect(await statusOf(gateway, '/moved/old/x')).toBe(200);
  });

  it('does not stop the start beside a file that is served in its last accepted form', async () => {
    await folder.publish(environment);
    await folder.save(refusedSunset());
    await folder.save(`${folder.orders}unknwn: 1\n`, 'orders-copy.yaml');
    await using gateway = await folder.start(environment);
    expect(await statusOf(gateway, '/api/v1/orders')).toBe(200);
    expect((await readyOf(gateway)).json).toMatchObject({
      quarantined: ['orders'],
      leftOut: ['orders-copy.yaml'],
    });
  });
});

describe('a start', () => {
  it.each(['accepted', 'partial'])(
    'exits if two valid files describe one API and neither was accepted: start: %s',
    async (START) => {
      const environment = { START };
      await folder.publish(environment);
      await folder.save(folder.orders.replace('v1-to-v2', 'one'));
      await folder.save(folder.orders.replace('v1-to-v2', 'other'), 'orders-old.yaml');
      await expect(folder.start(environment)).rejects.toThrow('the API "orders" is already described in');
    },
  );

  it('exits if a broken file describes an API that no other file serves', async () => {
    await folder.publish();
    await folder.save(`${plainApi('added', '/added')}unknwn: 1\n`, 'added.yaml');
    await expect(folder.start()).rejects.toThrow('added.yaml');
  });
});

describe('RET-2: a version that has ended, while its file is refused', () => {
  const ended = () =>
    folder.orders.replace(
      'versions:\n',
      'versions:\n  v0: { released: 2019-01-01, deprecated: 2020-01-01, sunset: 2021-01-01 }\n',
    );
  const refused = () => ended().replace('2999-01-15', '2998-12-31');

  it.each(['/api/v0/orders', '/api/v0/orders/x', '/api/v0/orders/x/y', '/api/{version}/orders/x'])(
    'answers 410 although a new file has the base %s',
    async (base) => {
      await folder.save(ended());
      await folder.publish();
      await folder.save(refused());
      await using gateway = await folder.start();
      const text = plainApi('added', base.replace('{version}', 'any'));
      const added = base.includes('{')
        ? text.replace(
            'versions: none\n',
            `resolve: [ { path: "${base}" } ]\nversions: { v0: { released: 2020-01-01 } }\n`,
          )
        : text;
      await folder.save(added.replace('any: {', base.includes('{') ? 'v0: {' : 'any: {'), 'added.yaml');
      expect(await gateway.reload()).toMatchObject({
        kind: 'rejected',
        problems: expect.arrayContaining([
          expect.objectContaining({
            message: expect.stringContaining('v0 of the API orders has ended and has this route'),
          }),
        ]),
      });
      expect(await statusOf(gateway, '/api/v0/orders/x/y')).toBe(410);
    },
  );

  it('keeps a nested base with its API if the file now describes another API', async () => {
    await folder.save(ended());
    await folder.save(plainApi('nested', '/api/v0/orders/x'), 'nested.yaml');
    await folder.publish();
    await folder.save(refused());
    await folder.save(plainApi('other', '/api/v0/orders/x'), 'nested.yaml');
    await using gateway = await folder.start();
    expect(await gateway.metric('sundial_policy_quarantined{api="nested"}')).toBe(1);
    expect(await statusOf(gateway, '/api/v0/orders/x')).toBe(200);
  });

  it('lets an accepted file keep its nested base', async () => {
    await folder.save(ended());
    await folder.save(plainApi('nested', '/api/v0/orders/x'), 'nested.yaml');
    await folder.publish();
    await folder.save(refused());
    await folder.save(`${plainApi('nested', '/api/v0/orders/x')}# changed\n`, 'nested.yaml');
    await using gateway = await folder.start();
    expect(await statusOf(gateway, '/api/v0/orders/x')).toBe(200);
    expect(await statusOf(gateway, '/api/v0/orders/y')).toBe(410);
  });
});
