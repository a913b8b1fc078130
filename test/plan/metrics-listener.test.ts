// Tests `listeners.metrics` in the gateway file: its form, its address, and the hint to use it.
import { expect, it } from 'vitest';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

const withListeners = (more: string) => ({
  'config/gateway.yaml': GATEWAY.replace('admin: { address: "127.0.0.1:9901" }', more),
  'policies/orders.yaml': ORDERS,
});

it('listeners.metrics is optional, and may be public without a token', async () => {
  await using plain = await workspace(withListeners('admin: { address: "127.0.0.1:9901" }'));
  expect((await plain.load()).settings?.listeners.metrics).toBeUndefined();
  await using files = await workspace(withListeners('metrics: { address: ":9902" }'));
  const { settings, problems } = await files.load();
  expect(problems).toEqual([]);
  expect(settings?.listeners.metrics).toEqual({ address: { host: undefined, port: 9902 } });
});

it('listeners.metrics has its own address and no token', async () => {
  await using files = await workspace(
    withListeners('admin: { address: "127.0.0.1:9901" }, metrics: { address: ":9901", token: x }'),
  );
  expect(await files.problems()).toEqual([
    expect.stringContaining('error: the admin listener has this address'),
    expect.stringContaining('error: unknown key "token"'),
  ]);
});

it('the warning about a public admin listener recommends listeners.metrics', async () => {
  await using files = await workspace(withListeners(`admin: { address: ":9901", token: "\${env:TOKEN}" }`));
  const [problem] = await files.problems({ TOKEN: 'a-token-of-more-than-thirty-two-characters' });
  expect(problem).toContain('use listeners.metrics for probes and scrapers');
});
