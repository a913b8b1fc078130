// Hostile text in a mail adds no header, recipient, line or tag.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConsumerNotice } from '../../gateway/announce/callers.ts';
import { mailOf } from '../../gateway/announce/mail.ts';
import { openMailSender } from '../../gateway/announce/send-mail.ts';
import { parseSmtp } from '../../gateway/plan/grammar/notify-section.ts';
import { parseMail } from '../../gateway/policy/notation.ts';
import { NOW, version } from '../support/exchange-samples.ts';
import { type MailCatcher, startMailCatcher } from '../support/mail-catcher.ts';

let catcher: MailCatcher;
beforeAll(async () => {
  catcher = await startMailCatcher();
});
afterAll(() => catcher[Symbol.asyncDispose]());

const HOSTILE = 'x\r\nBcc: all@evil.example\r\n\r\n<script>alert(1)</script>\u2028"&';

function noticesWith(reason: string): readonly ConsumerNotice[] {
  const rules = version({ api: HOSTILE, schedule: { ...version().schedule, reason } });
  const sample = { method: 'GET', template: '/api/v1/orders/*', requestId: HOSTILE };
  return [
    {
      notice: { id: 'a', milestone: { kind: 'sunset', life: rules, at: NOW }, rules },
      evidence: { calls: 1, lastAt: NOW, operations: [[HOSTILE, 1]], sample },
    },
  ];
}

async function sent(to: string) {
  const mail = mailOf({
    plan: { public: 'https://api.example.com' },
    to,
    from: 'api@example.com',
    now: NOW,
    readers: [
      { consumer: HOSTILE, byKey: false, notices: noticesWith(HOSTILE) },
      { consumer: `${HOSTILE}\u202E`, byKey: true, notices: noticesWith(HOSTILE) },
    ],
  });
  const smtp = parseSmtp(catcher.url);
  if (smtp === undefined || smtp === 'none') throw new Error('no server');
  expect(await openMailSender({ smtp, from: 'api@example.com' }).send(mail)).toEqual({ kind: 'sent' });
  const caught = catcher.mails.at(-1);
  if (caught === undefined) throw new Error('no mail');
  return caught;
}

it('names, reasons and samples stay on their line and in their tag', async () => {
  const { to, headers, text, html } = await sent('api@acme.example');
  expect(to).toEqual(['api@acme.example']);
  expect(headers.filter((line) => /^(bcc|cc):/i.test(line))).toEqual([]);
  expect(headers.filter((line) => /^subject:/i.test(line))).toHaveLength(1);
  expect(text.split('\n').filter((line) => line.startsWith('Bcc'))).toEqual([]);
  expect(text).not.toContain('\u202E');
  expect(html).not.toContain('<script');
  expect(html).toContain('&#60;script&#62;');
});

it.each([
  "o'neil@acme.example",
  'a.b+c@acme.example',
  'api@sub.acme.example',
  'api=x&y@acme.example',
  'jörg@acme.example',
  'api@[127.0.0.1]',
])('the address %s is one recipient', async (address) => {
  expect(parseMail(address)).toBe(address);
  expect((await sent(address)).to).toEqual([address]);
});

it.each([
  'a,b@acme.example',
  'a;b@acme.example',
  '(x)@acme.example',
  'x:y@acme.example',
  'a@b,c@acme.example',
  'a\\b@acme.example',
  'api@acme.example,evil.example',
  'api@acme.example:25',
  'api@acme.example/x',
  'api@acme.example.',
  'api@acme..example',
  '.api@acme.example',
  'a..b@acme.example',
  'api@acme.example\r\nBcc: x',
])('%s is rejected, because a mailer would read another address in it', (address) =>
  expect(parseMail(address)).toBeUndefined(),
);

it.each([
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, tls: false, credentials: undefined }],
  [
    'smtps://api%40example.com:p%2Fw@mail.example.com:2465/',
    {
      host: 'mail.example.com',
      port: 2465,
      tls: true,
      credentials: { user: 'api@example.com', pass: 'p/w' },
    },
  ],
  ['', 'none'],
  ['http://mail.example.com', undefined],
  ['smtp://mail.example.com?tls.rejectUnauthorized=false', undefined],
  ['smtp://mail.example.com:0', undefined],
  ['mail.example.com', undefined],
])('%s is read as a mail server or refused', (text, server) => expect(parseSmtp(text)).toEqual(server));
