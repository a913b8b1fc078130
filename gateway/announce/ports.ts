// The ports of announcing, and its report.
import type { GatewayPlan } from '../plan/plan.ts';
import type { NotifySettings } from '../plan/settings.ts';
import type { KeyStore } from '../policy/authentication/key-record.ts';
import type { EpochMs, MonotonicMs } from '../policy/contract.ts';
import type { AnnouncedStore } from '../policy/lifecycle/announcement-store.ts';
import type { Override } from '../policy/lifecycle/override.ts';
import type { LedgerStore } from '../policy/usage/ledger.ts';
import type { NoticeKind } from './notices.ts';
import type { EventSender } from './send-event.ts';
import type { MailSender } from './send-mail.ts';

export interface AnnouncerPorts {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  readonly monotonic: () => MonotonicMs;
  readonly overrides: () => readonly Override[];
  readonly ledger: Pick<LedgerStore, 'read'>;
  readonly keys: Pick<KeyStore, 'list'>;
  readonly announced: AnnouncedStore;
  readonly settings: NotifySettings;
  /** Unique to this process, also after a restart. */
  readonly owner: string;
  /** Lease of a claim in real milliseconds. Default: two minutes. */
  readonly leaseMs?: number | undefined;
  /** Undefined: no events are sent. */
  readonly sendEvent: EventSender | undefined;
  /** Undefined: no mails are sent. */
  readonly sendMail: MailSender['send'] | undefined;
  readonly report: AnnounceReport;
}

export interface AnnounceReport {
  readonly onAnnounced: (
    kind: NoticeKind,
    channel: 'mail' | 'event',
    result: 'sent' | 'failed' | 'refused' | 'no_contact',
  ) => void;
  /** Retried later. `reason` is a code without addresses. */
  readonly onFailed: (channel: 'mail' | 'event', reason: string) => void;
  /** The server refuses mail for that consumer: no retry. */
  readonly onRefused: (consumer: string, reason: string) => void;
  /** Each consumer is reported once. */
  readonly onWithoutContact: (consumers: readonly string[]) => void;
  readonly onFault: (error: unknown) => void;
}
