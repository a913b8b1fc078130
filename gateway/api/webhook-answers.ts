// Responses of the webhooks service about its subscriptions and deliveries.
import { z } from 'zod';

const MAX_ENDPOINTS = 1_000;
const MAX_DELIVERIES = 1_000;
const MAX_ATTEMPTS = 100;
const LAST_SECOND = 253_402_300_799; // 9999-12-31T23:59:59Z

const text = (most: number) => z.string().transform((written) => written.slice(0, most));
const word = text(60);
const name = text(256);
const count = z.int().min(0);
/** Unix time. */
const second = z.int().min(0).max(LAST_SECOND);
const status = z.int().min(100).max(599);

const counts = z.object({ pending: count, delivered: count, dead: count });

const endpoint = z.object({
  id: name,
  owner: name,
  /** Only the host, because the rest of the URL may contain a secret. */
  host: name,
  events: z.array(word).max(MAX_ENDPOINTS),
  disabled: z.object({ reason: word, at: second }).optional(),
  health: z.object({
    breaker: word,
    open_until: second.optional(),
    /** Consecutive failures. */
    failures: count,
    failing_since: second.optional(),
    last_attempt: z.object({ at: second, outcome: word, status: status.optional() }).optional(),
  }),
  deliveries: counts,
  next_attempt: second.optional(),
});

const overview = z.object({
  store: word,
  deliveries: counts,
  oldest_due: second.optional(),
  endpoints_total: count,
  endpoints: z.array(endpoint).max(MAX_ENDPOINTS),
});

const delivery = z.object({
  id: name,
  event: name,
  type: word,
  state: word,
  reason: word.optional(),
  replays: count,
  next_attempt: second.optional(),
  attempts: z
    .array(
      z.object({
        at: second,
        outcome: word,
        status: status.optional(),
        message: text(200),
        duration_ms: count,
      }),
    )
    .max(MAX_ATTEMPTS),
  created: second,
  updated: second,
});

const deliveries = z.object({ total: count, data: z.array(delivery).max(MAX_DELIVERIES) });
const replayed = z.object({ replayed: count, left: count });
const refusal = z.object({ message: text(200) });

export type WebhookOverview = z.output<typeof overview>;
export type WebhookEndpoint = z.output<typeof endpoint>;
export type WebhookDelivery = z.output<typeof delivery>;

/** Each returns undefined for a body of another shape. */
export const readOverview = (body: unknown) => overview.safeParse(body).data;
export const readDeliveries = (body: unknown) => deliveries.safeParse(body).data;
export const readReplayed = (body: unknown) => replayed.safeParse(body).data;
export const readRefusal = (body: unknown) => refusal.safeParse(body).data;
