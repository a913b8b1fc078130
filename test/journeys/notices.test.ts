// A version nears its end: its callers get one mail with their calls, and machines get events, by any gateway.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { readEvent } from '../../upstreams/webhooks/read-event.ts';
import { adminWriter } from '../support/admin-write.ts';
import { operate } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { type MailCatcher, startMailCatcher } from '../support/mail-catcher.ts';
import { startRedis } from '../support/redis-server.ts';

const stack = new AsyncDisposableStack();
const QUIET = Date.UTC(2027, 2, 10, 12);
const THIRTY_DAYS = Date.UTC(2027, 2, 16);
const SEVEN_DAYS = Date.UTC(2027, 3, 8);
const ENDED = Date.UTC(2027, 3, 15);
let now = QUIET;
let issuer: TestIssuer;
let mails: MailCatcher;
const events: { readonly id: string; readonly type: string; readonly data: { readonly notice: string } }[] =
  [];
let environment: Record<string, string> = {};
const start = () =>
  runGateway({ config: 'notices.yaml', policies: 'notices', lifecycleNow: () => now, environment });

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const redis = stack.adopt(await startRedis(), (server) => server.stop());
  mails = stack.use(await startMailCatcher());
  const intake = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    // Refuses events that the webhooks service would refuse.
    const { kind } = readEvent(Buffer.from(body), Date.now());
    if (kind === 'event') events.push(JSON.parse(body));
    response.writeHead(kind === 'event' ? 202 : 400).end();
  }).listen(0, '127.0.0.1');
  stack.defer(() => void intake.close());
  await vi.waitFor(() => expect(intake.listening).toBe(true));
  const { port } = intake.address() as AddressInfo;
  const INTAKE = `http://127.0.0.1:${port}/events`;
  environment = { ECHO: echo.url, ISSUER: issuer.url, STORE: redis.url, SMTP: mails.url, INTAKE };
});
afterAll(() => stack.disposeAsync());

async function call(gateway: RunningGateway, consumer: string, path: string): Promise<void> {
  await using client = overHttp1(gateway.https);
  const token = await issuer.sign({ sub: consumer, client_id: consumer, scope: 'orders:read' });
  const { status } = await client.ask({ path, headers: { authorization: `Bearer ${token}` } });
  expect(status).toBe(200);
}

/** Waits until the store has the calls of one consumer. */
const counted = (gateway: RunningGateway, calls: number) =>
  vi.waitFor(
    async () => {
      await using admin = overHttp1(gateway.admin, { tls: false });
      const { text } = await admin.ask({ path: '/-/usage' });
      expect(text).toContain(`"calls":${calls}`);
    },
    { timeout: 20_000, interval: 20 },
  );

async function announce(gateway: RunningGateway): Promise<unknown> {
  await using admin = overHttp1(gateway.admin, { tls: false });
  const { status, json } = await adminWriter(
    admin,
    await gateway.adminToken(),
  )({ method: 'POST', path: '/-/notices', body: { by: 'maria', why: 'now' } });
  expect(status).toBe(200);
  return json;
}

it('callers get one mail per notice, whatever restarts and however many gateways run', async () => {
  const first = await start();
  await call(first, 'acme', '/api/v1/orders/7');
  await call(first, 'acme', '/api/v1/orders/search');
  await call(first, 'globex', '/api/v2/orders/7');
  await counted(first, 2);
  // Nothing is sent for what is older than the gateway.
  await announce(first);
  expect([mails.mails, events]).toEqual([[], []]);

  const dryRun = (...more: string[]) =>
    operate(['notify', '--dry-run', '--admin', `http://127.0.0.1:${first.admin}`, ...more], {
      environment: {},
    });
  const shown = await dryRun('--at', '2027-03-16');
  expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
  expect(mails.mails).toEqual([]);

  now = THIRTY_DAYS;
  expect(await announce(first)).toMatchObject({
    busy: false,
    mails: { sent: 1, failed: 0, withoutContact: 0 },
    events: { sent: 1 },
  });
  const [mail] = mails.mails;
  expect(mail).toMatchObject({ from: 'api@example.com', to: ['api@acme.example'] });
  expect(mail?.headers).toEqual(
    expect.arrayContaining(['Subject: orders v1 ends on 2027-04-15', 'Auto-Submitted: auto-generated']),
  );
  for (const words of [
    'You get this mail because of calls as acme.',
    '30 days are left.',
    'Why: money amounts become integers.',
    'Call https://127.0.0.1/api/v2/orders instead.',
    'Migration guide: https://docs.example.com/orders/v1-to-v2',
    'Your calls of orders v1 in the last 30 days: 2, the last at 2027-03-10T12:00:00Z.',
    'GET /search: 1',
    'others: 1',
  ])
    expect(mail?.text).toContain(words);
  expect(mail?.html).toContain('<a href="https://docs.example.com/orders/v1-to-v2">');
  // The dry run showed the same mail.
  for (const line of mail?.text.trimEnd().split('\n') ?? []) expect(shown.stdout).toContain(line.trimEnd());
  expect(shown.stdout).toContain('To: api@acme.example (acme)\nSubject: orders v1 ends on 2027-04-15\n');
  expect(events).toMatchObject([
    {
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'version.sunset_approaching',
      created: THIRTY_DAYS / 1000,
      data: {
        api: 'orders',
        version: 'v1',
        notice: 'orders/v1/sunset-30d/2027-04-15',
        days: 30,
        sunset: '2027-04-15T00:00:00Z',
        successor: { version: 'v2', url: 'https://127.0.0.1/api/v2/orders' },
        guide: 'https://docs.example.com/orders/v1-to-v2',
      },
    },
  ]);
  const sent = 'sundial_announcements_total{kind="sunset_approaching",channel="mail",result="sent"}';
  expect(await first.metric(sent)).toBe(1);
  expect(await dryRun()).toMatchObject({
    stdout: '0 mails and 0 events due at 2027-03-16; nothing was sent.\n',
  });

  await announce(first);
  await first[Symbol.asyncDispose]();
  const gateways = [stack.use(await start()), stack.use(await start())] as const;
  await Promise.all(gateways.map(announce));
  expect([mails.mails.length, events.length]).toEqual([1, 1]);

  await call(gateways[0], 'acme', '/api/v1/orders/7');
  await counted(gateways[0], 3);
  now = SEVEN_DAYS;
  await Promise.all([...gateways, ...gateways].map(announce));
  expect(mails.mails.map(({ to }) => to)).toEqual([['api@acme.example'], ['api@acme.example']]);
  expect(events.map(({ data }) => data.notice).slice(1)).toEqual(['orders/v1/sunset-7d/2027-04-15']);

  // Of two late notices only the last is sent, and the notice of the end replaces all earlier ones.
  now = ENDED;
  await announce(gateways[1]);
  expect(events.map(({ type }) => type).slice(2)).toEqual(['version.sunset']);
  expect(mails.mails.at(-1)?.headers).toContain('Subject: orders v1 has ended');
  expect(mails.mails).toHaveLength(3);
});

it('notify shows consumers without a contact, and fails on a gateway without notify', async () => {
  now = QUIET;
  const { STORE: _shared, ...own } = environment;
  await using gateway = await runGateway({
    config: 'notices.yaml',
    policies: 'notices',
    lifecycleNow: () => now,
    environment: own,
  });
  await announce(gateway);
  await call(gateway, 'initech', '/api/v1/orders/7');
  now = THIRTY_DAYS;
  const admin = `http://127.0.0.1:${gateway.admin}`;
  await vi.waitFor(
    async () =>
      expect((await operate(['notify', '--dry-run', '--admin', admin])).stdout).toContain(
        'initech has no contact, so it gets no mail about orders/v1/sunset-30d/2027-04-15\n',
      ),
    { timeout: 20_000, interval: 20 },
  );
  const token = { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() };
  expect(await operate(['notify', '--admin', admin], { environment: token })).toEqual({
    exitCode: 0,
    stdout: 'Sent 0 mails and 1 event.\n1 consumer without a contact: --dry-run lists them.\n',
    stderr: '',
  });
  expect(gateway.log).toContainEqual(
    expect.objectContaining({ level: 'warn', names: 'initech', records: 1 }),
  );
  const wrong = await operate(['notify', '--dry-run', '--api', 'order', '--admin', admin]);
  expect(wrong).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('unknown API "order" (did you mean "orders"?).'),
  });

  const echo = { ECHO: environment.ECHO ?? '', ISSUER: environment.ISSUER ?? '' };
  await using silent = await runGateway({ policies: 'notices', environment: echo });
  const words = ['notify', '--dry-run', '--admin', `http://127.0.0.1:${silent.admin}`];
  expect(await operate(words)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('This gateway sends no notices'),
  });
});
