// Mails over SMTP, one connection each: there are few, and days may pass between two.
// The only file that knows the mail library; what the server said becomes one of three outcomes.
import { createTransport } from 'nodemailer';
import type { NotifySettings } from '../plan/settings.ts';
import { isLoopback } from '../policy/notation.ts';
import type { Mail } from './mail.ts';

export type MailOutcome =
  | { readonly kind: 'sent' }
  /** This mail, and for good: the server knows no such recipient, or wants none of it. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** `other`: whether the next mail may fare better, since only this one's recipient was put off. */
  | { readonly kind: 'failed'; readonly other: boolean; readonly reason: string };

export interface MailSender {
  readonly send: (mail: Mail) => Promise<MailOutcome>;
  readonly close: () => void;
}

const CONNECT_MS = 10_000;
const GREETING_MS = 10_000;
const SILENT_MS = 30_000;

export function openMailSender({ smtp, from }: NonNullable<NotifySettings['email']>): MailSender {
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.tls,
    ...(smtp.credentials !== undefined && {
      auth: smtp.credentials,
      // A password crosses no network unencrypted.
      requireTLS: !isLoopback(smtp.host),
    }),
    connectionTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SILENT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async ({ to, subject, text, html, messageId }) => {
      try {
        // Addresses as objects: none is read as a list of several, or as a name with one.
        await transport.sendMail({
          from: { name: '', address: from },
          to: { name: '', address: to },
          envelope: { from, to: [to] },
          subject,
          text,
          html,
          messageId,
          // RFC 3834: nobody's absence is answered to a machine.
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return { kind: 'sent' };
      } catch (error) {
        return outcomeOf(error);
      }
    },
    close: () => transport.close(),
  };
}

/** RFC 5321 section 4.2.1: 5yz is for good, 4yz for now. Said of the recipient or the message it is of this mail alone. */
function outcomeOf(error: unknown): MailOutcome {
  const of = (name: string): unknown => (error instanceof Error ? Reflect.get(error, name) : undefined);
  const [code, status, command] = [of('code'), of('responseCode'), String(of('command') ?? '')];
  const reason = [code, status].filter((each) => each !== undefined).join(' ') || 'unknown';
  const isOwn = /^(?:RCPT TO|DATA)$/.test(command) && typeof status === 'number';
  if (isOwn && status >= 500 && status !== 503) return { kind: 'refused', reason };
  return { kind: 'failed', other: isOwn, reason };
}
