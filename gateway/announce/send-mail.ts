// Sends mails over SMTP, with one connection each, because mails are rare.
import { createTransport } from 'nodemailer';
import type { NotifySettings } from '../plan/settings.ts';
import { isLoopback } from '../policy/notation.ts';
import type { Mail } from './mail.ts';

export type MailOutcome =
  | { readonly kind: 'sent' }
  /** Permanent, for this mail only: unknown recipient, rejected content, or an invalid address. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** `onlyThis`: the failure concerns this recipient only, so the next mail may succeed. */
  | { readonly kind: 'failed'; readonly onlyThis: boolean; readonly reason: string };

export interface MailSender {
  readonly send: (mail: Mail) => Promise<MailOutcome>;
  readonly close: () => void;
}

const CONNECT_MS = 10_000;
const GREETING_MS = 10_000;
const SILENT_MS = 30_000;
/** For the whole mail: shorter than its lease, even with a slow server. */
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
      // Never send a password unencrypted over a network.
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
        // Addresses as objects, so that nodemailer parses neither lists nor names from them.
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
        return late.aborted ? { kind: 'failed', onlyThis: false, reason: 'ETIMEDOUT' } : outcomeOf(error);
      }
    },
    close: () => transport.close(),
  };
}

/**
 * RFC 5321 §4.2.1: 5yz is permanent, 4yz is temporary. A reply to RCPT TO or DATA concerns this mail only. Policy and
 * authentication errors (RFC 3463: X.7.X) are retried, because an operator can fix them.
 */
function outcomeOf(error: unknown): MailOutcome {
  const of = (name: string): unknown => (error instanceof Error ? Reflect.get(error, name) : undefined);
  const [code, status, command] = [of('code'), of('responseCode'), String(of('command') ?? '')];
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(of('response') ?? ''))?.[1];
  const words = [code, of('originalCode'), status, enhanced].filter((each) => each !== undefined);
  const reason = words.join(' ') || 'unknown';
  // nodemailer rejected the address, so the mail server was not called.
  if (code === 'EENVELOPE' && command === 'API') return { kind: 'refused', reason };
  const isOwn = /^(?:RCPT TO|DATA)$/.test(command) && typeof status === 'number';
  const isTemporary = status === 503 || status === 530 || enhanced?.startsWith('5.7.') === true;
  if (isOwn && status >= 500 && !isTemporary) return { kind: 'refused', reason };
  return { kind: 'failed', onlyThis: isOwn, reason };
}
