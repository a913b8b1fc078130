// An announcer with the embedded store, a compiled policy, a real SMTP server and a settable clock.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Announcer, createAnnouncer } from '../../gateway/announce/announcer.ts';
import type { AnnouncerPorts } from '../../gateway/announce/ports.ts';
import { openMailSender } from '../../gateway/announce/send-mail.ts';
import { parseSmtp } from '../../gateway/plan/grammar/notify-section.ts';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { newWriter, usageOf } from '../contracts/ledger-store.ts';
import { ORDERS, workspace } from '../plan/workspace.ts';
import { type MailCatcher, startMailCatcher } from '../support/mail-catcher.ts';

export interface AnnouncerHarness extends AsyncDisposable {
  readonly mails: MailCatcher;
  /** Lifecycle and real time. */
  now: number;
  monotonic: number;
  /** Reports to operators, in order. */
  readonly report: string[];
  /** Records one call to orders v1 per consumer, now. Names that end in `-key` use an API key. */
  readonly called: (...consumers: readonly string[]) => Promise<void>;
  /** The same for another API. */
  readonly calledOf: (api: string, ...consumers: readonly string[]) => Promise<void>;
  /** An announcer of another process. `more` overrides its ports. */
  readonly announcer: (more?: Partial<AnnouncerPorts>) => Announcer;
  readonly ports: AnnouncerPorts;
}

export const CONTACTS = 'contacts: { acme: api@acme.example, globex: dev@globex.example }\n';

/** `others`: more policy files by name. */
export async function openHarness({
  policy = ORDERS + CONTACTS,
  others = {},
  now = 0,
}: {
  readonly policy?: string;
  readonly others?: Readonly<Record<string, string>>;
  readonly now?: number;
} = {}): Promise<AnnouncerHarness> {
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-announce-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const files = stack.use(await workspace({ 'policies/orders.yaml': policy, ...others }));
  const { plan, problems } = await files.load();
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  const onFault = (error: unknown) => expect.fail(String(error));
  const state = await openEmbeddedState(folder, { onState: () => undefined, onFault });
  stack.defer(state.close);
  const mails = stack.use(await startMailCatcher());
  const smtp = parseSmtp(mails.url);
  if (smtp === undefined || smtp === 'none') throw new Error('the mail catcher has no address');
  const sender = openMailSender({ smtp, from: 'api@example.com' });
  stack.defer(sender.close);
  const batch = newWriter();
  let processes = 0;
  const ports: AnnouncerPorts = {
    ...{ plan: () => plan, ledger: state.ledger, keys: state.keys, announced: state.announced },
    now: () => harness.now,
    monotonic: () => harness.monotonic,
    overrides: () => [],
    settings: { email: { smtp, from: 'api@example.com' }, intake: undefined, daysBefore: [90, 30, 7, 1] },
    owner: 'nobody',
    sendMail: sender.send,
    sendEvent: undefined,
    report: {
      onAnnounced: (...words) => void harness.report.push(words.join(' ')),
      onFailed: (...words) => void harness.report.push(`failed ${words.join(' ')}`),
      onRefused: (...words) => void harness.report.push(`refused ${words.join(' ')}`),
      onWithoutContact: (consumers) => void harness.report.push(`without contact ${consumers.join(' ')}`),
      onFault,
    },
  };
  const harness: AnnouncerHarness = {
    ...{ mails, now, monotonic: 0, report: [], ports },
    called: (...consumers) => harness.calledOf('orders', ...consumers),
    calledOf: async (api, ...consumers) => {
      const callsByDay = { [new Date(harness.now).toISOString().slice(0, 10)]: 1 };
      const times = { firstAt: harness.now, lastAt: harness.now, callsByDay };
      const via = (consumer: string) => (consumer.endsWith('-key') ? 'key' : 'token');
      const records = consumers.map((consumer) => usageOf({ api, consumer, via: via(consumer), ...times }));
      await state.ledger.add(batch(records));
    },
    announcer: (more = {}) => {
      processes += 1;
      return createAnnouncer({ ...ports, owner: `process ${processes}`, ...more });
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return harness;
}
