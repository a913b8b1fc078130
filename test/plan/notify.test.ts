// Tests `notify` in the gateway file and `contacts` in a policy: meaning, findings, concealed passwords.
import { describe, expect, it } from 'vitest';
import { effectiveConfig } from '../../gateway/plan/effective/effective.ts';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

const withNotify = (notify: string) =>
  workspace({ 'config/gateway.yaml': `${GATEWAY}notify: ${notify}\n`, 'policies/orders.yaml': ORDERS });
const MAIL = `email: { smtp: "\${env:SMTP_URL:-}", from: api@example.com }`;

describe('notify', () => {
  it('is off without a mail server and an intake', async () => {
    await using silent = await withNotify(`{ ${MAIL} }`);
    expect((await silent.load()).settings?.notify).toBeUndefined();
    expect((await silent.load({ SMTP_URL: 'smtp://mail.example.com' })).settings?.notify).toEqual({
      email: {
        smtp: { host: 'mail.example.com', port: 587, tls: false, credentials: undefined },
        from: 'api@example.com',
      },
      intake: undefined,
      daysBefore: [90, 30, 7, 1],
    });
  });

  it('warns of contacts if an API identifies no consumers', async () => {
    const text = ORDERS.replace('api: orders', 'contacts: { acme: a@acme.example }\napi: orders');
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([]);
    await files.write('policies/orders.yaml', text.replace(/access:.*/, 'access: public'));
    expect(await files.problems()).toEqual([
      expect.stringContaining('warning: a public API identifies no consumer, so no mail is sent'),
    ]);
    const operation = 'v2: { operations: { GET /mine: { access: { identity: main, scopes: any } } },';
    await files.write(
      'policies/orders.yaml',
      text.replace(/access:.*/, 'access: public').replace('v2: { released', `${operation} released`),
    );
    expect(await files.problems()).not.toContainEqual(expect.stringContaining('identifies no consumer'));
  });

  it('takes the days of the countdown in any order, each once', async () => {
    await using files = await withNotify(
      '{ webhooks: { intake: "http://127.0.0.1:4006/events" }, before_sunset: [7d, 60d, 7d] }',
    );
    expect((await files.load()).settings?.notify).toEqual({
      email: undefined,
      intake: 'http://127.0.0.1:4006/events',
      daysBefore: [60, 7],
    });
    expect(await files.problems()).toEqual([expect.stringContaining('warning: 7d is in this list already')]);
  });

  it.each([
    ['{ email: { smtp: "http://mail.example.com", from: api@example.com } }', 'not the URL of a mail server'],
    ['{ email: { smtp: "smtp://mail.example.com", from: nobody } }', 'not a mail address'],
    ['{ email: { smtp: "smtp://mail.example.com", from: "a,b@example.com" } }', 'not a mail address'],
    ['{ webhooks: { intake: "ftp://127.0.0.1/events" } }', 'not an http or https URL'],
    ['{ webhooks: { intake: "http://u:p@127.0.0.1/events" } }', 'not an http or https URL'],
    ['{ webhooks: { deliveries: "http://hooks.internal/admin" } }', 'http only on this machine'],
    ['{ webhooks: { deliveries: "https://u:p@hooks.internal/admin" } }', 'not an https URL'],
    ['{ webhooks: { deliveries: "http://127.0.0.1:4006/admin?x=1" } }', 'not an https URL'],
    ['{ before_sunset: [12h] }', 'not a number of whole days'],
    [
      '{ email: { smtp: "smtp://u:hunter2@mail.example.com", from: api@example.com } }',
      'the password is written in this file',
    ],
  ])('%s: %s', async (notify, message) => {
    await using files = await withNotify(notify);
    const problems = await files.problems();
    expect(problems).toEqual([expect.stringContaining(message)]);
    if (notify.includes('hunter2')) expect(problems.join()).not.toContain('hunter2');
  });

  it('deliveries need no intake, and send nothing by themselves', async () => {
    await using files = await withNotify('{ webhooks: { deliveries: "http://127.0.0.1:4006/admin/" } }');
    const { settings, problems } = await files.load();
    expect(settings).toMatchObject({ webhookDeliveries: 'http://127.0.0.1:4006/admin', notify: undefined });
    expect(problems).toEqual([]);
  });

  it('deliveries without an admin listener get a warning', async () => {
    await using files = await workspace({
      'config/gateway.yaml': `${GATEWAY.replace(/, admin: \{.*?\}/, '')}notify: { webhooks: { deliveries: "http://127.0.0.1:4006/admin" } }\n`,
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toEqual([expect.stringContaining('this file has no admin listener')]);
  });

  it('mail without a ledger gets a warning, since no callers are known', async () => {
    await using files = await workspace({
      'config/gateway.yaml': `${GATEWAY}ledger: off\nnotify: { ${MAIL} }\n`,
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toEqual([expect.stringContaining('no mail is sent without a ledger')]);
  });

  it.each([
    ['"smtp://user:hunter2@mail.example.com"', {}],
    [`"\${env:SMTP_URL}"`, { SMTP_URL: 'smtp://user:hunter2@mail.example.com' }],
  ])('config show hides the password of %s', async (smtp, environment) => {
    await using files = await withNotify(`{ email: { smtp: ${smtp}, from: api@example.com } }`);
    const { sources } = await files.load(environment);
    if (sources?.gateway === undefined) throw new Error('no gateway file');
    const shown = effectiveConfig({ revision: '', gateway: sources.gateway, policies: [], defaults: true });
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(JSON.stringify(shown)).toContain('"before_sunset":["90d","30d","7d","1d"]');
  });
});

describe('contacts', () => {
  it('are mail addresses of any consumer, known or unknown', async () => {
    await using files = await workspace({
      'policies/orders.yaml': `${ORDERS}contacts: { acme: api@acme.example, nobody: x@y.example }\n`,
    });
    const { plan, problems } = await files.load();
    expect(problems).toEqual([]);
    expect([...(plan?.apis[0]?.contacts ?? [])]).toEqual([
      ['acme', 'api@acme.example'],
      ['nobody', 'x@y.example'],
    ]);
    await files.write(
      'policies/orders.yaml',
      `${ORDERS}contacts: { acme: "api@acme.example, b@c.example" }\n`,
    );
    expect(await files.problems()).toEqual([expect.stringContaining('not a mail address')]);
  });
});
