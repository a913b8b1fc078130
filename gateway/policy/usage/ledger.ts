// Types of the ledger: who called which deprecated version, when and how often. Includes its store port.
import type { EpochMs, MaybePromise } from '../contract.ts';

export type UsageDay = string;

/** The kind of credential that gave the id. */
export const KNOWN_BY = ['token', 'key', 'certificate', 'address'] as const;

/** Who called what. The consumer is personal data: it never becomes a metric label and is never logged. */
export interface UsageSubject {
  /** The id of a consumer, or the address of an anonymous caller (IPv6 by its /64). */
  readonly consumer: string;
  readonly via: (typeof KNOWN_BY)[number];
  readonly api: string;
  readonly version: string;
  /** `GET /search`. Undefined if no operation of the policy matches. */
  readonly operation: string | undefined;
}

/** One request of a subject. It contains nothing that the client chose except the request id. */
export interface UsageSample {
  readonly method: string;
  /** The route template, never the requested path. */
  readonly template: string;
  readonly requestId: string;
}

/** The same shape serves stored records and counts since the last flush. */
export interface UsageRecord extends UsageSubject {
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly callsByDay: Readonly<Record<UsageDay, number>>;
  /** User agents without control characters, truncated, at most five, the latest last. */
  readonly agents: readonly string[];
  readonly sample: UsageSample | undefined;
}

/** An omitted field does not filter. */
export interface UsageFilter {
  readonly api?: string;
  readonly version?: string;
  readonly consumer?: string;
  /** The kind of credential: the id of a token may equal that of a key, or an address. */
  readonly via?: UsageSubject['via'];
  /** Skips records without a call on this day or later, and does not count earlier days. */
  readonly since?: UsageDay;
}

export interface UsagePage {
  readonly records: readonly UsageRecord[];
  /** The cursor of the next page, which may be empty. Undefined after the last page. */
  readonly next: string | undefined;
}

/** The days to sum up: the counted period, and the two weeks of the trend. */
export interface CountedDays {
  readonly since: UsageDay;
  /** The first day to read: the trend may begin before the counted period. */
  readonly readFrom: UsageDay;
  /**
   * Start of the seven whole days before `today`. Today is excluded, because an incomplete day would always look like a
   * decline.
   */
  readonly weekFrom: UsageDay;
  /** Start of the seven days before them. */
  readonly weekBeforeFrom: UsageDay;
  readonly today: UsageDay;
}

export interface UsageCount extends UsageSubject, Pick<UsageRecord, 'firstAt' | 'lastAt' | 'agents'> {
  readonly calls: number;
  readonly week: number;
  readonly weekBefore: number;
}

export interface CountedPage {
  readonly records: readonly UsageCount[];
  readonly next: string | undefined;
}

/**
 * `after`: the cursor of the page before, or any result of `writePlace`. `limit`: at least 1. A page of a slow store may
 * have fewer records although more follow.
 */
export interface PageRequest {
  readonly after: string | undefined;
  readonly limit: number;
}

export type UsageVersion = Pick<UsageSubject, 'api' | 'version'>;

export interface UsageBatch {
  /** Unique per process and per start. */
  readonly writer: string;
  /** 1, 2, 3 … per writer. A store ignores a number that is not above the last one, because it has already counted it. */
  readonly number: number;
  readonly at: EpochMs;
  /** Versions whose counting begins now, with all their operations. Versions of earlier batches are omitted. */
  readonly watched: readonly UsageVersion[];
  /** At most `MAX_IN_BATCH`, each with another subject. */
  readonly records: readonly UsageRecord[];
}

export interface FirstSeen {
  readonly at: EpochMs | undefined;
  /** When counting of the version began. Undefined: not yet. Before that, an absent call proves nothing. */
  readonly countedSince: EpochMs | undefined;
}

/** A larger batch would delay the requests that wait for the store. */
export const MAX_IN_BATCH = 100;

/** Rejects with `StoreUnavailable` if the store does not answer in time. */
export interface LedgerStore {
  /** Adds all or nothing. A batch that is sent again is counted once. */
  readonly add: (batch: UsageBatch) => Promise<void>;
  /** Sorted by api, version, consumer, via, operation. @throws RangeError for an invalid cursor or an impossible day */
  readonly read: (filter: UsageFilter, page: PageRequest) => Promise<UsagePage>;
  /** Sums up in the store, because a record may have hundreds of days. Skips records without a call since `readFrom`. */
  readonly count: (
    filter: Omit<UsageFilter, 'since'>,
    days: CountedDays,
    page: PageRequest,
  ) => Promise<CountedPage>;
  /**
   * When a consumer was first seen on a version, with any operation and any credential: a change from a key to tokens makes
   * no new consumer. Addresses are not consumers. A request waits for this, so it is one store call within the request
   * timeout.
   */
  readonly firstSeen: (adopter: VersionConsumer) => MaybePromise<FirstSeen>;
  /**
   * When counting of that version began, or without one, of the first version. Undefined: not yet. Before that, an absent
   * call proves nothing.
   */
  readonly beganAt: (of?: UsageVersion) => Promise<EpochMs | undefined>;
  /** Ends counting. If counting resumes, it begins at that time, whatever was counted before. */
  readonly unwatch: () => Promise<void>;
  readonly erase: (consumer: string) => Promise<number>;
  /** Deletes days before `day` and records without remaining days. Returns the number of deleted records. */
  readonly sweep: (day: UsageDay) => Promise<number>;
}

export type VersionConsumer = Pick<UsageSubject, 'consumer' | 'api' | 'version'>;

/** Knows which consumers were seen when. Instants are those of the lifecycle clock. */
export interface Adoption {
  /** Records a call before the freeze of its version. This process then knows the consumer before any store does. */
  readonly saw: (adopter: VersionConsumer, now: EpochMs) => void;
  /**
   * Whether the consumer was first seen at `freeze` or later, or never. False if this is unknown: the store is unavailable,
   * or counting began after the freeze. Never rejects.
   */
  readonly isLate: (adopter: VersionConsumer, freeze: EpochMs, now: EpochMs) => MaybePromise<boolean>;
}

/** The sort key of records. An operation of '' means the whole version. */
export type UsagePlace = readonly [
  api: string,
  version: string,
  consumer: string,
  via: string,
  operation: string,
];

export function placeOf({ api, version, consumer, via, operation }: UsageSubject): UsagePlace {
  return [api, version, consumer, via, operation ?? ''];
}

export function writePlace(place: UsagePlace): string {
  return JSON.stringify(place);
}

/** Undefined for an invalid cursor. Admin clients may send any text. */
export function readPlace(text: string): UsagePlace | undefined {
  const parts = partsOf(text);
  if (!Array.isArray(parts) || parts.length !== 5) return undefined;
  const [api, version, consumer, via, operation] = parts.map((part) =>
    typeof part === 'string' ? part : undefined,
  );
  if (api === undefined || version === undefined || consumer === undefined) return undefined;
  return via === undefined || operation === undefined ? undefined : [api, version, consumer, via, operation];
}

function partsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
