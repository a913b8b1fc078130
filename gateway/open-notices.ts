// Assembles announcing: its channels, claims and report.
import { randomUUID } from 'node:crypto';
import { type Announcer, createAnnouncer } from './announce/announcer.ts';
import type { AnnouncerPorts } from './announce/ports.ts';
import { createEventSender } from './announce/send-event.ts';
import type { Settings } from './plan/settings.ts';
import type { OverrideStore } from './policy/lifecycle/override.ts';
import { type AnnounceTelemetry, createAnnounceReport } from './telemetry/reports/announcement-counts.ts';

/** Shorter than the time that the shutdown allows after the drain. A mail that is cut off is sent again. */
const LAST_MS = 2_000;

/** Disposal stops the checks, waits briefly for a running one, then aborts its requests. */
export interface OpenNotices extends AsyncDisposable {
  /** Undefined if the gateway file configures no notifications. */
  readonly onRequest:
    | (Pick<Announcer, 'preview'> & {
        /** Undefined in a rehearsal. */
        readonly announce: Announcer['announce'] | undefined;
      })
    | undefined;
  /** Checks at once, and every minute. */
  readonly begin: () => void;
}

type Ports = Pick<AnnouncerPorts, 'plan' | 'now' | 'monotonic' | 'ledger' | 'keys' | 'announced'> & {
  readonly overrides: Pick<OverrideStore, 'current'>;
};

/**
 * Loads nodemailer only if mails are configured. `isRehearsal`: the clock was moved, so notices are shown and not sent.
 */
export async function openNotices(
  { notify }: Pick<Settings, 'notify'>,
  telemetry: AnnounceTelemetry,
  { overrides, ...ports }: Ports,
  { isRehearsal }: { readonly isRehearsal: boolean },
): Promise<OpenNotices> {
  if (notify === undefined) {
    return { onRequest: undefined, begin: () => undefined, [Symbol.asyncDispose]: async () => undefined };
  }
  const { email, intake } = notify;
  const ending = new AbortController();
  const { signal } = ending;
  const mails = email && (await import('./announce/send-mail.ts')).openMailSender(email, { ending: signal });
  if (mails !== undefined) telemetry.metrics.announces('mail');
  if (intake !== undefined) telemetry.metrics.announces('event');
  const announcer = createAnnouncer({
    ...ports,
    overrides: overrides.current,
    settings: notify,
    owner: randomUUID(),
    sendMail: mails?.send,
    sendEvent: intake === undefined ? undefined : createEventSender(intake, signal),
    report: createAnnounceReport(telemetry),
  });
  const warnOfRehearsal = (): void =>
    telemetry.logger.warn('the lifecycle clock was moved by --at: notices are not sent');
  return {
    onRequest: isRehearsal ? { preview: announcer.preview, announce: undefined } : announcer,
    begin: isRehearsal ? warnOfRehearsal : announcer.begin,
    [Symbol.asyncDispose]: async () => {
      const cut = setTimeout(() => ending.abort(), LAST_MS);
      await announcer.close();
      clearTimeout(cut);
      mails?.close();
    },
  };
}
