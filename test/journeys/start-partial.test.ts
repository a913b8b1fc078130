// `start: partial` serves the APIs with valid files, and every view of an operator names the refused files.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operate, runCommand } from '../support/command.ts';
import type { RunningGateway } from '../support/gateway.ts';
import { startProcess } from '../support/gateway-process.ts';
import { freePorts } from '../support/ports.ts';
import { askPath, folderForEachTest, plainApi, readyOf, STORES } from '../support/published-folder.ts';

const folder = folderForEachTest();

const BAD_ORDERS = () => folder.orders.replace('access: public\n', '');
const ADDED = plainApi('added', '/added');
const BAD_ADDED = ADDED.replace('access: public\n', '');
const SUCCESSFUL = 'sundial_config_last_reload_successful';
const seriesOf = (api: string) => `sundial_policy_quarantined{api="${api}"}`;
const statusOf = async (gateway: RunningGateway) =>
  (await operate(['status', '--admin', `http://127.0.0.1:${gateway.admin}`])).stdout.split(': store')[0];
const reloadOf = async (gateway: RunningGateway) =>
  operate(['reload', '--admin', `http://127.0.0.1:${gateway.admin}`], {
    environment: { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() },
  });

describe.each(STORES)('on $store with $workers workers', ({ workers, redis }) => {
  it('an API stays reported as left out until its file is corrected', async () => {
    const environment = { WORKERS: workers, START: 'partial', ...(await folder.storeOf(redis)) };
    await folder.publish(environment);
    await folder.save(BAD_ORDERS());
    await folder.save(BAD_ADDED, 'added.yaml');
    await using gateway = await folder.start(environment);
    const both = 'ready, last reload refused, last accepted form served: orders, left out: added';
    expect(await statusOf(gateway)).toBe(both);
    expect(await gateway.metric(SUCCESSFUL)).toBe(0);
    expect(await gateway.metric(seriesOf('orders'))).toBe(1);
    expect(await gateway.metric(seriesOf('added'))).toBe(2);

    await folder.save(folder.orders);
    expect(await gateway.reload()).toMatchObject({ quarantined: [{ api: 'added', isServed: false }] });
    const one = 'last reload refused, left out: added';
    expect((await readyOf(gateway)).json).toMatchObject({ status: 'ready', detail: one, leftOut: ['added'] });
    expect(await statusOf(gateway)).toBe(`ready, ${one}`);
    expect(await gateway.metric(SUCCESSFUL)).toBe(0);
    expect(await gateway.metric(seriesOf('orders'))).toBe(0);
    expect(await gateway.metric(seriesOf('added'))).toBe(2);
    expect((await askPath(gateway, '/added')).status).toBe(503);

    await folder.save(ADDED, 'added.yaml');
    expect(await gateway.reload()).toMatchObject({ quarantined: [] });
    expect(await statusOf(gateway)).toBe('ready');
    expect(await gateway.metric(SUCCESSFUL)).toBe(1);
    expect(await gateway.metric(seriesOf('added'))).toBe(0);
    expect((await askPath(gateway, '/added')).status).toBe(200);
  });
});

describe('an API that start: partial leaves out', () => {
  const start = async () => {
    await folder.publish();
    await folder.save(BAD_ADDED, 'added.yaml');
    return folder.start({ START: 'partial' });
  };

  it('is logged with its file and the reason', async () => {
    await using gateway = await start();
    expect(gateway.log.find(({ api }) => api === 'added')).toMatchObject({
      level: 'error',
      message: 'policy left out: the file is refused, and the API has no accepted form that can be served',
      file: expect.stringMatching(/added\.yaml$/),
      reason: expect.stringContaining('added.yaml:1:1: error: '),
    });
  });

  it('is named by a reload, which exits with 1 even if other files are accepted', async () => {
    await using gateway = await start();
    await folder.save(folder.orders.replace('v1-to-v2', 'elsewhere'));
    const { stdout, exitCode } = await reloadOf(gateway);
    expect(stdout).toMatch(/^added: \S*added\.yaml is refused and left out$/m);
    expect(exitCode).toBe(1);
    expect((await reloadOf(gateway)).exitCode).toBe(1);
  });

  it('is named by its file if the file names no API', async () => {
    await folder.publish();
    await folder.save(ADDED.replace('api: added\n', ''), 'added.yaml');
    await using gateway = await folder.start({ START: 'partial' });
    expect(await statusOf(gateway)).toBe('ready, last reload refused, left out: added.yaml');
    expect(await gateway.metric(seriesOf('added.yaml'))).toBe(2);
  });

  it('is named by its file if another file serves an API of that name', async () => {
    await folder.publish();
    await folder.save(ADDED.replace('api: added', 'api: orders'), 'added.yaml');
    await using gateway = await folder.start({ START: 'partial' });
    expect(await statusOf(gateway)).toBe('ready, last reload refused, left out: added.yaml');
  });

  it('is named by its accepted API if its accepted form cannot be served', async () => {
    await folder.save(ADDED.replace('ECHO', 'SECOND'), 'added.yaml');
    await folder.publish({ SECOND: 'http://127.0.0.1:9' });
    await folder.save('api: [added\n', 'added.yaml');
    await using gateway = await folder.start({ START: 'partial' });
    expect(await statusOf(gateway)).toBe('ready, last reload refused, left out: added');
  });

  it('keeps its record, and is served when its accepted form can be served again', async () => {
    const second = { SECOND: folder.environment().ECHO ?? '' };
    await folder.save(ADDED.replace('ECHO', 'SECOND'), 'added.yaml');
    await folder.publish(second);
    await folder.save('api: [added\n', 'added.yaml');
    await folder.publish({ START: 'partial' });
    await using gateway = await folder.start(second);
    expect(await statusOf(gateway)).toBe('ready, last reload refused, last accepted form served: added');
    expect((await askPath(gateway, '/added')).status).toBe(200);
  });

  it('is no longer named when its file is removed', async () => {
    await using gateway = await start();
    await folder.remove('added.yaml');
    expect(await gateway.reload()).toMatchObject({ quarantined: [] });
    expect(await statusOf(gateway)).toBe('ready');
    expect(await gateway.metric(SUCCESSFUL)).toBe(1);
    expect(await gateway.metric(seriesOf('added'))).toBe(0);
  });

  it('is named in the banner', async () => {
    const config = join(folder.path, 'gateway.yml');
    const [admin] = await freePorts(1);
    await folder.save(
      `public: https://127.0.0.1
listeners: { https: { address: "127.0.0.1:0" }, admin: { address: "127.0.0.1:${admin}" } }
start: "\${env:START}"
store: "\${env:STORE}"
data: "\${env:DATA}"
policies: "\${env:POLICIES}"
`,
      'gateway.yml',
    );
    await folder.publish();
    await folder.save(BAD_ORDERS());
    await folder.save(BAD_ADDED, 'added.yaml');
    await using gateway = startProcess(['run', '-c', config], folder.environment({ START: 'partial' }));
    await gateway.ready;
    expect(gateway.stderr).toContain('\n  refused      last accepted form served: orders, left out: added\n');
    gateway.kill('SIGTERM');
    await gateway.ended;

    // The last line of a refused start names the reason.
    const refused = await runCommand(['run', '-c', config], folder.environment({ START: 'accepted' }));
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/\nsundial: not started: 2 errors in \S*added\.yaml, \S*orders\.yaml\n$/);
  });
});
