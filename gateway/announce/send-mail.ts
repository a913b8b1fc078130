// Mails over SMTP, one connection each: there are few, and days may pass between two.
import { createTransport } from 'nodemailer';
import type { NotifySettings } from '../plan/settings.ts';
import { isLoopback } from '../policy/notation.ts';
import type { Mail } from './mail.ts';

export type MailOutcome =
  | { readonly kind: 'sent' }
  /** This mail, and for good: the server knows no such recipient, or wants none of it, or no server could be asked for it. */
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
/** All of one mail: less than the claim of it lasts, however slowly a server talks. */
const WITHIN_MS = 60_000;

export interface MailTimes {
  readonly ending?: AbortSignal | undefined;
  readonly withinMs?: number | undefined;
}

export function openMailSender(
  { smtp, from }: NonNullable<NotifySettings['email']>,
  { ending, withinMs = WITHIN_MS }: MailTimes = {},
): MailSender {
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
      const late = AbortSignal.timeout(withinMs);
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
          // RFC 3834: suppresses out-of-office replies.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.any(ending === undefined ? [late] : [late, ending]),
        });
        return { kind: 'sent' };
      } catch (error) {
        return late.aborted ? { kind: 'failed', other: false, reason: 'ETIMEDOUT' } : outcomeOf(error);
      }
    },
    close: () => transport.close(),
  };
}

/**
 * RFC 5321 section 4.2.1: 5yz is for good, 4yz for now. Said of the recipient or the message it is of this mail alone. But
 * what a server forbids, or wants a password for, an operator can mend: no consumer stays untold for that (RFC 3463: X.7.X).
 */
function outcomeOf(error: unknown): MailOutcome {
  const of = (name: string): unknown => (error instanceof Error ? Reflect.get(error, name) : undefined);
  const [code, status, command] = [of('code'), of('responseCode'), String(of('command') ?? '')];
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(of('response') ?? ''))?.[1];
  const words = [code, of('originalCode'), status, enhanced].filter((each) => each !== undefined);
  const reason = words.join(' ') || 'unknown';
  // Never offered to the server: no address that it could be given.
  if (code === 'EENVELOPE' && command === 'API') return { kind: 'refused', reason };
  const isOwn = /^(?:RCPT TO|DATA)$/.test(command) && typeof status === 'number';
  const canBeMended = status === 503 || status === 530 || enhanced?.startsWith('5.7.') === true;
  if (isOwn && status >= 500 && !canBeMended) return { kind: 'refused', reason };
  return { kind: 'failed', other: isOwn, reason };
}
