// A file that a running gateway refused does not stop the next start, which serves the last accepted form.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operate } from '../support/command.ts';
import type { RunningGateway } from '../support/gateway.ts';
import {
  askPath,
  endingApi,
  folderForEachTest,
  plainApi,
  readyOf,
  STORES,
} from '../support/published-folder.ts';

const folder = folderForEachTest();

const earlier = () => folder.orders.replace('sunset: 2999-01-15', 'sunset: 2998-12-31');
const PUBLISHED = 'Tue, 15 Jan 2999 00:00:00 GMT';
const QUARANTINED = 'sundial_policy_quarantined{api="orders"}';
const sunsetOf = async (gateway: RunningGateway) => (await askPath(gateway, '/api/v1/orders')).headers.sunset;

describe.each(STORES)('on $store with $workers workers', ({ workers, redis }) => {
  it('an earlier sunset is refused by a reload, and a restart serves the published date', async () => {
    const environment = { WORKERS: workers, ...(await folder.storeOf(redis)) };
    {
      await using gateway = await folder.start(environment);
      await folder.save(earlier());
      expect(await gateway.reload()).toMatchObject({ kind: 'rejected' });
    }
    await using gateway = await folder.start(environment);
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    expect(await gateway.metric(QUARANTINED)).toBe(1);

    await folder.save(endingApi('2999-01-01'), 'other.yaml');
    expect(await gateway.reload()).toMatchObject({ quarantined: [{ api: 'orders' }] });
    expect((await askPath(gateway, '/other')).status).toBe(200);
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);

    await folder.save(folder.orders.replace('2020-06-01', '"2020-06-01"'));
    expect(await gateway.reload()).toMatchObject({ quarantined: [] });
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    expect(await gateway.metric(QUARANTINED)).toBe(0);
  });
});

describe('gateways on one Redis', () => {
  it('a start with earlier files does not replace a newer record; a reload to them does', async () => {
    const environment = await folder.storeOf(true);
    const later = folder.orders.replace('v1-to-v2', 'later');
    const guideOf = async (gateway: RunningGateway) =>
      String((await askPath(gateway, '/api/v1/orders')).headers.link).includes('/later>');
    await folder.publish(environment);
    await folder.save(later);
    await folder.publish(environment);
    await folder.save(folder.orders);
    {
      await using late = await folder.start(environment);
      expect(await guideOf(late)).toBe(false);
      expect(late.log.some(({ message }) => String(message).includes('does not overwrite them'))).toBe(true);
    }
    await folder.save('api: [orders\n');
    {
      await using gateway = await folder.start(environment);
      expect(await guideOf(gateway)).toBe(true);
      await folder.save(later);
      await gateway.reload();
      await folder.save(folder.orders);
      await gateway.reload();
    }
    await folder.save('api: [orders\n');
    await using gateway = await folder.start(environment);
    expect(await guideOf(gateway)).toBe(false);
  });
});

describe('a gateway that serves the last accepted form', () => {
  it('is reported in the log, the metrics, /-/ready and status', async () => {
    await folder.publish();
    await folder.save(earlier());
    await using gateway = await folder.start();
    expect(gateway.log.find(({ api }) => api === 'orders')).toMatchObject({
      level: 'error',
      message: 'policy quarantined: the file is refused, and the last accepted form of the API is served',
      file: expect.stringMatching(/orders\.yaml$/),
      reason: expect.stringContaining(
        'orders.yaml:14:13: error: the sunset of v1 was published as 2999-01-15',
      ),
    });
    await gateway.reload();
    expect(await gateway.metric('sundial_config_last_reload_successful')).toBe(0);
    const detail = 'last reload refused, last accepted form served: orders';
    expect((await readyOf(gateway)).json).toMatchObject({ status: 'ready', detail, quarantined: ['orders'] });
    const { stdout, exitCode } = await operate(['status', '--admin', `http://127.0.0.1:${gateway.admin}`]);
    expect(stdout).toMatch(new RegExp(`^ready, ${detail}: store embedded up, plan`));
    expect(exitCode).toBe(0);
  });

  it('reloads file by file: an error in another file keeps only that API unchanged', async () => {
    await folder.save(endingApi('2999-01-01'), 'other.yaml');
    await folder.publish();
    await folder.save(earlier());
    await using gateway = await folder.start();
    await folder.save(endingApi('2998-01-01'), 'other.yaml');
    await folder.save(plainApi('third', '/third'), 'third.yaml');
    const outcome = await gateway.reload();
    expect(outcome.quarantined.map(({ api }) => api).toSorted()).toEqual(['orders', 'other']);
    expect((await askPath(gateway, '/other')).headers.sunset).toBe('Tue, 01 Jan 2999 00:00:00 GMT');
    expect((await askPath(gateway, '/third')).status).toBe(200);
  });

  it('keeps its record over restarts and accepted changes of other APIs', async () => {
    await folder.publish();
    await folder.save(earlier());
    await folder.save(endingApi('2999-01-01'), 'other.yaml');
    await folder.publish();
    await folder.publish();
    await using gateway = await folder.start();
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    await folder.save(endingApi('2998-01-01'), 'other.yaml');
    expect(await gateway.reload()).toMatchObject({ quarantined: [{ api: 'orders' }, { api: 'other' }] });
  });

  it('RET-2: answers 410 for an ended version, whatever the refused file contains', async () => {
    const ended = folder.orders.replace(
      'versions:\n',
      'versions:\n  v0: { released: 2019-01-01, deprecated: 2020-01-01, sunset: 2021-01-01 }\n',
    );
    await folder.save(ended);
    await folder.publish();
    const revived = ended
      .replace('sunset: 2021-01-01', 'sunset: 2999-06-01')
      .replace('2999-01-15', '2998-12-31');
    await folder.save(
      revived.replace('upstreams:\n', `upstreams:\n  v0: { targets: ["\${env:ECHO}"], path: /echo }\n`),
    );
    await using gateway = await folder.start();
    expect((await askPath(gateway, '/api/v0/orders')).status).toBe(410);
    // No new file may take a route of an ended version while the file of that version is refused.
    await folder.save(endingApi('2999-01-01').replace('base: /other', 'base: /api/v0/orders'), 'other.yaml');
    expect(await gateway.reload()).toMatchObject({ kind: 'rejected' });
    expect((await askPath(gateway, '/api/v0/orders')).status).toBe(410);
  });
});

describe('a start', () => {
  const broken: readonly (readonly [string, () => Promise<void>])[] = [
    ['that is not YAML', () => folder.save('api: [orders\n')],
    ['without a required key', () => folder.save(folder.orders.replace('access: public\n', ''))],
    ['that is missing, as are all others', () => folder.remove('orders.yaml')],
    ['that is missing, which is an error', async () => folder.remove('orders.yaml')],
    ['that became a folder', async () => folder.remove('orders.yaml')],
    ['with another name of its API', () => folder.save(folder.orders.replace('api: orders', 'api: Orders!'))],
  ];
  it.each(broken)('with a file %s serves its last accepted form', async (name, damage) => {
    await folder.save(`${folder.orders}rules: { version-removed: error }\n`);
    if (name.includes('error')) await folder.save(endingApi('2999-01-01'), 'other.yaml');
    await folder.publish();
    await damage();
    await using gateway = await folder.start();
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    expect(await gateway.metric(QUARANTINED)).toBe(1);
  });

  it('whose guide is missing serves the accepted guide', async () => {
    await folder.save(folder.orders.replace('https://docs.example.com/v1-to-v2', './move.md'));
    await folder.save('# Move to v2\n', 'move.md');
    await folder.publish();
    await folder.remove('move.md');
    await using gateway = await folder.start();
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    const page = await askPath(gateway, '/.well-known/lifecycle/orders', { accept: 'text/html' });
    expect(page.text).toContain('Move to v2');
  });

  it('whose description is missing serves the accepted dates', async () => {
    const dates = '    deprecated: 2021-01-15\n    sunset: 2999-01-15\n';
    await folder.save(folder.orders.replace(dates, '    openapi: ./descriptions/v1.yaml\n'));
    await mkdir(join(folder.path, 'descriptions'));
    await folder.save(
      `openapi: 3.1.0
info:
  title: Orders
  version: v1
  x-lifecycle: { deprecation: { announced: 2021-01-15, sunset: 2999-01-15 } }
paths: {}
`,
      'descriptions/v1.yaml',
    );
    await folder.publish();
    await folder.remove('descriptions/v1.yaml');
    await using gateway = await folder.start();
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    expect(await gateway.metric(QUARANTINED)).toBe(1);
  });

  it('exits and names the variable if the accepted form needs a missing variable', async () => {
    const orders = folder.orders.replace(
      `v2: { targets: ["\${env:ECHO}"]`,
      `v2: { targets: ["\${env:SECOND}"]`,
    );
    await folder.save(orders);
    await folder.publish({ SECOND: 'http://127.0.0.1:9' });
    await folder.save(earlier());
    await expect(folder.start()).rejects.toThrow('the sunset of v1 was published as 2999-01-15');
    await folder.save(orders);
    await expect(folder.start()).rejects.toThrow('SECOND');
  });

  it('with a file that was never accepted exits; with start: partial it serves the others', async () => {
    await folder.publish();
    await folder.save(endingApi('2999-01-01').replace('path: /echo', `path: "\${env:NONE}"`), 'other.yaml');
    await expect(folder.start()).rejects.toThrow('other.yaml:');
    await using gateway = await folder.start({ START: 'partial' });
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    expect((await askPath(gateway, '/other')).status).toBe(503);
    expect(await gateway.metric(QUARANTINED)).toBeUndefined();
    expect((await readyOf(gateway)).json).toMatchObject({ status: 'ready' });
  });

  it('with start: strict exits if one file is refused', async () => {
    await folder.publish();
    await folder.save(earlier());
    await expect(folder.start({ START: 'strict' })).rejects.toThrow('was published as 2999-01-15');
  });

  it('serves the accepted one of two files that claim a route', async () => {
    const first = endingApi('2999-05-01').replace('api: other', 'api: first');
    await folder.save(first.replace('base: /other', 'base: /first'), 'first.yaml');
    await folder.save(endingApi('2999-01-01'), 'other.yaml');
    await folder.publish();
    await folder.save(first, 'first.yaml');
    await using gateway = await folder.start();
    expect((await askPath(gateway, '/other')).headers.sunset).toBe('Tue, 01 Jan 2999 00:00:00 GMT');
    expect((await askPath(gateway, '/first')).headers.sunset).toBe('Wed, 01 May 2999 00:00:00 GMT');
    expect(await gateway.metric('sundial_policy_quarantined{api="first"}')).toBe(1);
  });

  it('gives a route of a refused file to the accepted file that claims it', async () => {
    await folder.save(folder.orders.replace('{version}/orders" }', '{version}/orders" }, { default: v2 }'));
    await folder.publish();
    await folder.save(earlier());
    await folder.save(endingApi('2999-01-01').replace('base: /other', 'base: /api/orders'), 'other.yaml');
    await using gateway = await folder.start();
    expect((await askPath(gateway, '/api/orders')).headers.sunset).toBe('Tue, 01 Jan 2999 00:00:00 GMT');
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    expect(await gateway.metric(QUARANTINED)).toBe(1);
  });
});
