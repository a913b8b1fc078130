// Tests that hints about `notify`, `contacts` and identities are valid when an operator follows them.
import { describe, expect, it } from 'vitest';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

type Row = readonly [wrong: string, cure: string, right: string];

const email = (smtp: string) => `notify: { email: { smtp: ${smtp}, from: api@example.com } }`;
const steps = (list: string) => `notify: { before_sunset: ${list} }`;
const intake = (url: string) => `notify: { webhooks: { intake: ${url} } }`;

/** Lines of the gateway file, their hints, and the corrected line. */
const OF_THE_GATEWAY: readonly Row[] = [
  [email('"127.0.0.1:1025"'), 'write smtp://127.0.0.1:1025', email('smtp://127.0.0.1:1025')],
  [email('http://mail.example.com/'), 'write smtp://mail.example.com', email('smtp://mail.example.com')],
  [
    email('mail.example.com:465'),
    'write smtps://mail.example.com:465',
    email('smtps://mail.example.com:465'),
  ],
  [
    'notify: { email: smtp://mail.example.com }',
    'write email: { smtp: smtp://<host>:587, from: <address> }',
    email('smtp://mail.example.com'),
  ],
  [steps('[90]'), 'write 90d', steps('[90d]')],
  [steps('[3 months]'), 'write 90d', steps('[90d]')],
  [steps('[2 weeks]'), 'write 14d', steps('[14d]')],
  [
    intake('127.0.0.1:4006/events'),
    'write http://127.0.0.1:4006/events',
    intake('http://127.0.0.1:4006/events'),
  ],
  [
    intake('hooks.example.com/events'),
    'write https://hooks.example.com/events',
    intake('https://hooks.example.com/events'),
  ],
  [
    'notify: { webhooks: http://h:1/events }',
    'write webhooks: { intake: http://h:1/events }',
    intake('http://h:1/events'),
  ],
];

const brownout = (zone: string, cron = '"0 14 * * tue"') =>
  `v1: { brownouts: [ { before_sunset: 30d, cron: ${cron}, zone: ${zone}, for: 15m, announced: 2026-11-01 } ],`;
const calls = (below: string) => `v1: { retire_when: { calls_below: ${below} },`;
const expectation = (request: string, rest: string) =>
  `expect: [ { request: ${request}, at: 2026-11-20, as: acme, ${rest} } ]\napi: orders`;

/** Replacements for `api: orders` or `v1: {` in the policy. */
const OF_A_POLICY: readonly Row[] = [
  [brownout('Berlin'), 'write Europe/Berlin', brownout('Europe/Berlin')],
  [brownout('New York'), 'write America/New_York', brownout('America/New_York')],
  [brownout('UTC', '"0 25 * * tue"'), 'minute 0-59, hour 0-23', brownout('UTC', '"0 23 * * tue"')],
  [calls('"100"'), 'write 100/30d', calls('100/30d')],
  ['v1: { extended: 2027-04-15,', 'write extended: [{ to: 2027-04-15, announced: <date>', 'v1: {'],
  ['v1: { operations: { GET items: { max_body: 1MB } },', 'write GET /items', 'v1: {'],
  ['v1: { operations: { /items: { max_body: 1MB } },', 'write * /items', 'v1: {'],
  ['contacts: { acme: Acme <a@acme.example> }\napi: orders', 'write one address', 'api: orders'],
  ['contacts: [ a@acme.example ]\napi: orders', 'write contacts: { <consumer>: <address> }', 'api: orders'],
  ['cors: { origins: [ app.example.com ] }\napi: orders', 'write https://app.example.com', 'api: orders'],
  ['rules: { notice-period: warn }\napi: orders', 'did you mean "warning"?', 'api: orders'],
  [
    expectation('/api/v1/orders', 'version: v1'),
    'write "GET /api/v1/orders"',
    expectation('GET /api/v1/orders', 'version: v1'),
  ],
  [
    expectation('GET /api/v1/orders', 'status: 200'),
    'a forwarded request has no status here: write version or stage',
    expectation('GET /api/v1/orders', 'stage: deprecated'),
  ],
];

describe('a hint', () => {
  it.each(OF_THE_GATEWAY)('corrects %s in the gateway file', async (wrong, cure, right) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    expect(await errorsOf(files, `${GATEWAY}${wrong}\n`, 'config/gateway.yaml')).toEqual([
      expect.stringContaining(cure),
    ]);
    expect(await errorsOf(files, `${GATEWAY}${right}\n`, 'config/gateway.yaml')).toEqual([]);
  });

  it.each(OF_A_POLICY)('corrects %s in a policy', async (wrong, cure, right) => {
    await using files = await workspace({});
    const policy = (text: string) =>
      ORDERS.replace(text.startsWith('v1') ? 'v1: { released' : 'api: orders', (old) =>
        old.startsWith('v1') ? `${text} released` : text,
      );
    expect(await errorsOf(files, policy(wrong), 'policies/orders.yaml')).toEqual([
      expect.stringContaining(cure),
    ]);
    expect(await errorsOf(files, policy(right), 'policies/orders.yaml')).toEqual([]);
  });

  it('does not quote a password beside a mistake', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const said = await errorsOf(files, `${GATEWAY}${email('"http://u:hunter2@h"')}\n`, 'config/gateway.yaml');
    expect(said).toEqual([undefined]);
  });
});

describe('a hint about something missing', () => {
  it('names the keys of an identity and the file', async () => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace(/identity:.*\n/, ''),
      'policies/orders.yaml': ORDERS,
    });
    expect(await hints(files)).toContain(
      'the gateway file has none: write identity: { <name>: { issuer: <URL>, audience: <text> } } there for tokens, identity: { keys: { header: X-API-Key } } there for API keys, or access: public here',
    );
  });

  it('suggests a place for the version from the base', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS.replace(/resolve:.*\n/, '') });
    expect(await hints(files)).toContain(
      'write resolve: [{ path: "/api/{version}/orders" }], or versions: none',
    );
  });

  it('says that the path of a guide is relative to the file', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('https://docs.example.com/v2', './guides/v2.md'),
    });
    expect(await hints(files)).toContain('its path is relative to this file');
  });
});

type Files = Awaited<ReturnType<typeof workspace>>;

const hints = async (files: Files) => (await files.load()).problems.map(({ hint }) => hint);

async function errorsOf(files: Files, text: string, path: string): Promise<readonly (string | undefined)[]> {
  await files.write(path, text);
  const { problems } = await files.load();
  return problems.filter(({ severity }) => severity === 'error').map(({ hint }) => hint);
}
