// Responses of the admin API about usage.
import { z } from 'zod';

/** RFC 3339 in UTC, by the lifecycle clock. Days are UTC days. */
const now = z.string();

/** Calls of the last seven whole days, and of the seven before. */
const trend = z.object({ week: z.number(), weekBefore: z.number() });
/** Such as `GET /search`. Null for requests that match no operation of the policy. */
const operation = z.string().nullable();

/** When counting began within the requested days, and what determined it. `since` null: calls are not counted. */
const looks = z.object({
  since: z.string().nullable(),
  because: z.enum(['window', 'ledger', 'deprecated']),
});

/** Decisions that depend on the usage of a version: freeze and retirement. */
const decides = z.object({
  /** Null: not yet. */
  countedSince: z.string().nullable(),
  freeze: z.string().nullable(),
  /** Null if the version has no `retire_when`. */
  retirement: z.enum(['met', 'exceeded', 'unknown']).nullable(),
  heldUntil: z.string().nullable(),
  /** For people, each without a full stop. */
  summaries: z.array(z.string()),
});

const usedVersion = z.object({
  api: z.string(),
  version: z.string(),
  /** Null: the policies have no such version. */
  stage: z.string().nullable(),
  deprecated: z.string().nullable(),
  sunset: z.string().nullable(),
  successor: z.string().nullable(),
  consumers: z.number(),
  calls: z.number(),
  trend,
  lastCall: z.string().nullable(),
  /** Null if the query names a consumer. */
  verdict: z.enum(['unused', 'too_early', 'called', 'ended', 'not_deprecated', 'not_in_policies']).nullable(),
  /** The verdict for people, without a full stop. */
  summary: z.string().nullable(),
  /** Absent if the query names a consumer, and for versions that no policy has. */
  looks: looks.exactOptional(),
  /** Only for versions with freeze or retire_when. */
  decides: decides.exactOptional(),
  operations: z.array(
    z.object({ operation, consumers: z.number(), calls: z.number(), trend, lastCall: z.string() }),
  ),
  exceptions: z.array(
    z.object({
      consumer: z.string(),
      from: z.array(z.string()),
      until: z.string(),
      why: z.string(),
      by: z.string(),
      calls: z.number(),
      lastCall: z.string().nullable(),
      /** For people, without a full stop. */
      summary: z.string(),
    }),
  ),
});

const usageRow = z.object({
  api: z.string(),
  version: z.string(),
  consumer: z.string(),
  via: z.string(),
  calls: z.number(),
  trend,
  firstCall: z.string(),
  lastCall: z.string(),
  operations: z.array(
    z.object({
      operation,
      calls: z.number(),
      trend,
      firstCall: z.string(),
      lastCall: z.string(),
      agents: z.array(z.string()),
    }),
  ),
});

const usageRecord = z.object({
  api: z.string(),
  version: z.string(),
  operation,
  consumer: z.string(),
  via: z.string(),
  firstCall: z.string(),
  lastCall: z.string(),
  callsByDay: z.record(z.string(), z.number()),
  agents: z.array(z.string()),
  sample: z.object({ method: z.string(), template: z.string(), requestId: z.string() }).nullable(),
});

const usageAnswer = z.object({
  now,
  since: z.string(),
  /** False: the ledger is off, and its records are from an earlier time. */
  recording: z.boolean(),
  /** Null while the ledger is empty. */
  began: z.string().nullable(),
  /** Earlier days are deleted. Null if none are. */
  kept: z.string().nullable().exactOptional(),
  /** Only on the first page. */
  versions: z.array(usedVersion).exactOptional(),
  consumers: z.array(usageRow),
  /** All records of the consumer in the query. */
  records: z.array(usageRecord).exactOptional(),
  /** Send it as `after` to get the next page. Null on the last page. */
  next: z.string().nullable(),
});

const erasedAnswer = z.object({ now, erased: z.number() });

export type UsageAnswer = z.output<typeof usageAnswer>;
export type UsedVersion = z.output<typeof usedVersion>;
export type UsageRowBody = z.output<typeof usageRow>;
export type UsageRecordBody = z.output<typeof usageRecord>;
export type ErasedAnswer = z.output<typeof erasedAnswer>;

/** Each returns undefined for a body of another shape. */
export const readUsageAnswer = (body: unknown) => usageAnswer.safeParse(body).data;
export const readErasedAnswer = (body: unknown) => erasedAnswer.safeParse(body).data;
