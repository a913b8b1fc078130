// Replies of a mail server: refused permanently, deferred, or timed out.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { type MailTimes, openMailSender } from '../../gateway/announce/send-mail.ts';
import { openNotices } from '../../gateway/open-notices.ts';
import { parseSmtp } from '../../gateway/plan/grammar/notify-section.ts';
import { startMailCatcher } from '../support/mail-catcher.ts';
import { openHarness } from './harness.ts';

const MAIL = { subject: 's', text: 't', html: '<p>t</p>', messageId: '<x@example.com>' };

function senderAt(port: number, times?: MailTimes) {
  const smtp = parseSmtp(`smtp://127.0.0.1:${port}`);
  if (smtp === undefined || smtp === 'none') throw new Error('no server');
  return openMailSender({ smtp, from: 'api@example.com' }, times);
}

/** Sends one reply per received line. After the last it keeps sending lines of a reply that never ends. */
async function startServer(replies: readonly string[]) {
  const stack = new AsyncDisposableStack();
  const seen = { open: 0 };
  const server = createServer((socket) => {
    seen.open += 1;
    let next = 0;
    const say = (): void => void socket.write(replies[next++] ?? '250-and so on\r\n');
    const drip = setInterval(() => next >= replies.length && say(), 10);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(drip);
        seen.open -= 1;
      });
    socket.on('data', () => next < replies.length && say());
    say();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, seen, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const GREETED = ['220 here\r\n', '250 here\r\n', '250 ok\r\n'];

it.each([
  ['550 5.1.1 no such user', { kind: 'refused', reason: 'EENVELOPE 550 5.1.1' }],
  ['553 not here', { kind: 'refused', reason: 'EENVELOPE 553' }],
  [
    '554 5.7.1 <api@acme.example>: Relay access denied',
    { kind: 'failed', onlyThis: true, reason: 'EENVELOPE 554 5.7.1' },
  ],
  ['530 5.7.0 Authentication required', { kind: 'failed', onlyThis: true, reason: 'EENVELOPE 530 5.7.0' }],
  ['450 4.2.0 Greylisted', { kind: 'failed', onlyThis: true, reason: 'EENVELOPE 450 4.2.0' }],
])('a recipient answered with %s', async (reply, outcome) => {
  await using server = await startServer([...GREETED, `${reply}\r\n`, '250 ok\r\n', '221 bye\r\n']);
  expect(await senderAt(server.port).send({ ...MAIL, to: 'api@acme.example' })).toEqual(outcome);
});

it('an address that cannot be sent to a server is refused, and blocks no other', async () => {
  await using catcher = await startMailCatcher();
  const outcome = await senderAt(catcher.port).send({ ...MAIL, to: 'a@b:25' });
  expect(outcome).toEqual({ kind: 'refused', reason: 'EENVELOPE' });
});

it.each([0, 1, 2, 3].map((stage) => [stage, [...GREETED, '250 ok\r\n'].slice(0, stage)] as const))(
  'a server whose reply %i never ends times out, and its connection is closed',
  async (_, replies) => {
    await using server = await startServer(replies);
    const outcome = await senderAt(server.port, { withinMs: 100 }).send({ ...MAIL, to: 'api@acme.example' });
    expect(outcome).toEqual({ kind: 'failed', onlyThis: false, reason: 'ETIMEDOUT' });
    await expect.poll(() => server.seen.open).toBe(0);
  },
);

it('a mail in progress is aborted at the end', async () => {
  await using server = await startServer(GREETED);
  const ending = new AbortController();
  const sent = senderAt(server.port, { ending: ending.signal }).send({ ...MAIL, to: 'api@acme.example' });
  await expect.poll(() => server.seen.open).toBe(1);
  ending.abort();
  expect(await sent).toEqual({ kind: 'failed', onlyThis: false, reason: 'EABORT' });
});

it('a gateway ends in time although its mail server does not reply', async () => {
  await using server = await startServer([]);
  await using harness = await openHarness({ now: Date.UTC(2026, 11, 10) });
  await harness.announcer().announce();
  await harness.called('acme');
  harness.now = Date.UTC(2026, 11, 16);
  const smtp = { host: '127.0.0.1', port: server.port, tls: false, credentials: undefined };
  const settings = { ...harness.ports.settings, email: { smtp, from: 'api@example.com' } };
  const said: string[] = [];
  const log = (message: string, fields?: { readonly reason?: unknown }) =>
    void said.push(`${message} ${fields?.reason}`);
  const telemetry = {
    logger: { warn: log, error: log },
    metrics: { announced: () => undefined, announces: () => undefined },
  };
  const notices = await openNotices(
    { notify: settings },
    telemetry,
    {
      ...harness.ports,
      overrides: { current: () => [] },
    },
    { isRehearsal: false },
  );
  notices.begin();
  await expect.poll(() => server.seen.open).toBe(1);
  await notices[Symbol.asyncDispose]();
  expect(said).toEqual(['sending announcements by mail failed; the gateway retries later EABORT']);
  // No claim is left, so the next announcer sends it at once.
  expect((await harness.announcer().announce()).mails).toMatchObject({ sent: 1 });
});

it('a failed connection is reported with its own reason', async () => {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const outcome = await senderAt(port).send({ ...MAIL, to: 'api@acme.example' });
  expect(outcome).toEqual({ kind: 'failed', onlyThis: false, reason: 'ESOCKET ECONNREFUSED' });
});
