// `check --live` and `diff --live` get the current calls from the running gateway and print the impact.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { UsageAnswer } from '../../gateway/api/usage-answers.ts';
import { runCheck } from '../../gateway/cli/check/check.ts';
import { runDiff } from '../../gateway/cli/diff/diff.ts';
import { GATEWAY, NOW, workspace } from '../plan/workspace.ts';
import { answer, DECIDES, POLICY, RETIRES } from './called-orders.ts';

describe('a command that asks the running gateway', () => {
  /** A server in place of an admin listener, with a fixed response. */
  async function gatewayAt(answered: UsageAnswer) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const isHello = request.url === '/-/healthy';
      if (!isHello) asked.push(request.url ?? '');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(isHello ? { status: 'healthy' } : answered));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const config = GATEWAY.replace('127.0.0.1:9901', `127.0.0.1:${port}`);
    const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
    return { asked, config, close };
  }
  const common = { environment: {}, now: NOW, colour: false } as const;

  it('diff --live prints who calls a changed version now', async () => {
    const { asked, config, close } = await gatewayAt(answer());
    await using files = await workspace({
      'config/gateway.yaml': config,
      'policies/orders.yaml': POLICY.replace('2027-01-15', '2027-03-15'),
      'old/orders.yaml': POLICY,
    });
    const options = {
      ...common,
      older: `${files.folder}/old`,
      newer: undefined,
      configFile: files.configFile,
      cwd: files.folder,
      exitCode: false,
      format: 'text' as const,
    };
    const { text } = await runDiff({ ...options, live: true });
    expect(text).toContain('orders v1: sunset 2027-01-15 -> 2027-03-15, +2 months\n');
    expect(text).toContain('now:\n  orders v1: retires on 2027-03-15 for 14 consumers, 3,100 calls a day\n');
    expect(asked).toEqual(['/-/usage?since=30d']);
    expect((await runDiff(options)).text).not.toContain('now:');
    const json = JSON.parse((await runDiff({ ...options, live: true, format: 'json' })).text);
    expect(json.impact).toMatchObject([{ api: 'orders', version: 'v1' }]);
    await close();
    expect((await runDiff({ ...options, live: true })).text).toContain('usage not checked: ');
  });

  it('check --live requests callers only for frozen versions', async () => {
    const { asked, config, close } = await gatewayAt(answer({ decides: DECIDES }));
    const policy = POLICY.replace('#more', 'freeze: 2026-06-01');
    const fresh = policy.replaceAll('orders', 'invoices');
    await using files = await workspace({
      'config/gateway.yaml': config,
      'policies/orders.yaml': policy,
      'policies/new.yaml': fresh,
    });
    const { configFile, folder: cwd } = files;
    const live = { today: NOW };
    const { text } = await runCheck({
      ...common,
      files: [],
      configFile,
      cwd,
      format: 'text',
      strict: false,
      live,
    });
    expect(text).toContain('orders v1: closed to new consumers since 2026-06-01: refuses 2 of 3 consumers');
    expect(asked).toEqual([
      '/-/usage?since=30d',
      '/-/usage?since=30d&api=orders&version=v1',
      '/-/reload/preview',
    ]);
    await close();
  });

  it('check --live prints who calls a version that will retire', async () => {
    const { config, close } = await gatewayAt(answer());
    await using files = await workspace({ 'config/gateway.yaml': config, 'policies/orders.yaml': POLICY });
    const { text } = await runCheck({
      ...common,
      files: [],
      configFile: files.configFile,
      cwd: files.folder,
      format: 'text',
      strict: false,
      live: { today: NOW },
    });
    expect(text).toContain(`${RETIRES}\n`);
    await close();
  });
});
