// Queries and responses of the admin API about notices.
import { z } from 'zod';
import type { EpochMs } from '../policy/contract.ts';

const about = { consumer: z.string(), notices: z.array(z.string()).readonly() };

const noticesAnswer = z.object({
  /** The lifecycle clock of the gateway, and the instant of the query. */
  now: z.string(),
  at: z.string(),
  sends: z.object({ mails: z.boolean(), events: z.boolean() }),
  mails: z
    .array(
      z.object({
        to: z.string(),
        readers: z.array(z.object(about)).readonly(),
        subject: z.string(),
        text: z.string(),
      }),
    )
    .readonly(),
  withoutContact: z.array(z.object(about)).readonly(),
  addresses: z.number(),
  events: z
    .array(
      z.object({
        id: z.string(),
        type: z.string(),
        created: z.number(),
        data: z.record(z.string(), z.unknown()),
      }),
    )
    .readonly(),
});

const sentAnswer = z.object({
  now: z.string(),
  /** Another gateway is sending, so this one sent nothing. */
  busy: z.boolean(),
  events: z.object({ sent: z.number(), failed: z.number() }),
  mails: z.object({
    sent: z.number(),
    refused: z.number(),
    failed: z.number(),
    withoutContact: z.number(),
  }),
});

export type NoticesAnswer = z.output<typeof noticesAnswer>;
export type SentAnswer = z.output<typeof sentAnswer>;

export interface NoticesQuery {
  /** Undefined: now. Calls are always counted until now. */
  readonly at: EpochMs | undefined;
  /** Only mails and events about this API. Such a mail may also be about other APIs. */
  readonly api: string | undefined;
  /** Only mails to this consumer, and no events. */
  readonly consumer: string | undefined;
}

export type NoticesFound = Omit<NoticesAnswer, 'now' | 'at'> & Readonly<Record<'now' | 'at', EpochMs>>;

export type NoticesSent = Omit<SentAnswer, 'now'>;

/** Each returns undefined for a body of another shape. */
export const readNoticesAnswer = (body: unknown) => noticesAnswer.safeParse(body).data;
export const readSentAnswer = (body: unknown) => sentAnswer.safeParse(body).data;
