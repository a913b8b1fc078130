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
  /** Number of client addresses with anonymous calls. */
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
  /** Another gateway is sending: nothing was sent here. */
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

export interface NoticesAsked {
  /** Undefined: now. Calls are counted until now in any case. */
  readonly at: EpochMs | undefined;
  /** Notices to or about it, and those in the same mail. */
  readonly api: string | undefined;
  readonly consumer: string | undefined;
}

/** The notices found, with instants as numbers. */
export type NoticesFound = Omit<NoticesAnswer, 'now' | 'at'> & Readonly<Record<'now' | 'at', EpochMs>>;

/** The outcome for the notices that were due. */
export type NoticesSent = Omit<SentAnswer, 'now'>;

/** Each returns undefined for a body of another shape. */
export const readNoticesAnswer = (body: unknown) => noticesAnswer.safeParse(body).data;
export const readSentAnswer = (body: unknown) => sentAnswer.safeParse(body).data;
