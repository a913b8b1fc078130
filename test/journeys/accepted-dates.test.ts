// `sundial accept` lets one date that the rules refuse take effect, and records who accepted it and why.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operate } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { askPath, endingApi, folderForEachTest } from '../support/published-folder.ts';

const folder = folderForEachTest();

const earlier = () => folder.orders.replace('sunset: 2999-01-15', 'sunset: 2998-12-31');
const PUBLISHED = 'Tue, 15 Jan 2999 00:00:00 GMT';
const EARLIER = 'Mon, 31 Dec 2998 00:00:00 GMT';
const QUARANTINED = 'sundial_policy_quarantined{api="orders"}';
const sunsetOf = async (gateway: RunningGateway) => (await askPath(gateway, '/api/v1/orders')).headers.sunset;

describe('sundial accept', () => {
  const accept = (gateway: RunningGateway, ...words: readonly string[]) =>
    acceptBecause(gateway, 'the contract ended', ...words);
  const acceptBecause = async (gateway: RunningGateway, why: string, ...words: readonly string[]) =>
    operate(
      ['accept', ...words, '--why', why, '--by', 'ada', '--admin', `http://127.0.0.1:${gateway.admin}`],
      {
        environment: { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() },
      },
    );

  it('records and audits the accepted date, and covers no other date', async () => {
    await using gateway = await folder.start(folder.environment());
    await folder.save(earlier());
    await gateway.reload();
    const { stdout, exitCode } = await accept(gateway, 'orders', 'v1');
    expect(stdout).toContain('accepted: orders v1 sunset 2998-12-31\n');
    expect(exitCode).toBe(0);
    expect(await sunsetOf(gateway)).toBe(EARLIER);
    expect(gateway.log.find(({ audit }) => audit !== undefined)?.audit).toMatchObject({
      action: 'accept',
      subject: 'orders v1',
      by: 'ada',
      why: 'the contract ended',
      after: { v1: 'sunset 2998-12-31T00:00:00Z' },
    });
    await folder.save(earlier().replace('2998-12-31', '2998-12-30'));
    expect(await gateway.reload()).toMatchObject({ kind: 'rejected' });
    await folder.save(folder.orders.replace('2999-01-15', '2999-05-01'));
    await gateway.reload();
    expect(await sunsetOf(gateway)).toBe('Wed, 01 May 2999 00:00:00 GMT');
    await folder.save(earlier());
    expect(await gateway.reload()).toMatchObject({ kind: 'rejected' });
  });

  it('keeps the acceptance while another file blocks the reload, and covers no other date', async () => {
    await folder.save(endingApi('2999-01-01'), 'other.yaml');
    await using gateway = await folder.start();
    await folder.save(earlier());
    await folder.save(endingApi('2998-01-01'), 'other.yaml');
    expect(await accept(gateway, 'orders', 'v1')).toMatchObject({ exitCode: 1 });
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
    await folder.save(endingApi('2999-01-01'), 'other.yaml');
    await folder.save(earlier().replace('2998-12-31', '2998-12-30'));
    expect(await gateway.reload()).toMatchObject({ kind: 'rejected' });
    await folder.save(earlier());
    await gateway.reload();
    expect(await sunsetOf(gateway)).toBe(EARLIER);
  });

  it('keeps the acceptance while the API is quarantined, also when other files are accepted', async () => {
    const ending = (text: string, day: string) =>
      text.replace(
        'released: 2021-01-15 }',
        `released: 2021-01-15, deprecated: 2022-01-01, sunset: ${day} }`,
      );
    await folder.save(ending(folder.orders, '2999-06-01'));
    await folder.publish();
    await folder.save(ending(earlier(), '2999-05-01'));
    await using gateway = await folder.start();
    expect(await accept(gateway, 'orders', 'v1')).toMatchObject({ exitCode: 1 });
    await folder.save(endingApi('2999-01-01'), 'other.yaml');
    expect(await gateway.reload()).toMatchObject({ quarantined: [{ api: 'orders' }] });
    await folder.save(ending(earlier(), '2999-06-01'));
    expect(await gateway.reload()).toMatchObject({ quarantined: [] });
    expect(await sunsetOf(gateway)).toBe(EARLIER);
  });

  it('ends a quarantine, and restores a date from before a later one was published', async () => {
    await folder.publish();
    await folder.save(folder.orders.replace('sunset: 2999-01-15', 'sunset: 2999-08-01'));
    await folder.publish();
    await folder.save(folder.orders);
    await using gateway = await folder.start();
    expect(await gateway.metric(QUARANTINED)).toBe(1);
    expect(await accept(gateway, 'orders')).toMatchObject({ stderr: '', exitCode: 0 });
    expect(await gateway.metric(QUARANTINED)).toBe(0);
    expect(await sunsetOf(gateway)).toBe(PUBLISHED);
  });

  it('fails if no published date changes, and on a gateway started with --at', async () => {
    await using gateway = await folder.start();
    const { exitCode, stderr } = await accept(gateway, 'orders', 'v1');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('Nothing to accept: no rule refuses a changed date of orders v1.');
    expect((await accept(gateway, 'nope')).stderr).toContain('No API "nope" is in force (known: orders).');
    expect((await accept(gateway, 'orders', 'v9')).stderr).toContain(
      'The API orders has no version "v9" (known: v1, v2, v3).',
    );
    expect((await acceptBecause(gateway, ' ', 'orders')).stderr).toBe(
      'sundial: --why: must be a single line of 1 to 200 printable characters\n',
    );
    const data = join(folder.path, 'moved');
    const elsewhere = { DATA: data, STORE: `embedded:${data}` };
    await using moved = await runGateway({ environment: folder.environment(elsewhere) });
    expect((await accept(moved, 'orders', 'v1')).stderr).toContain('Start it without --at.');
  });
});
