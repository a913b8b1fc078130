// What the ledger speaks: who called what is deprecated, when and how often, where that is kept, and in which order.
import type { EpochMs, MaybePromise } from '../contract.ts';

/** A day of UTC, `2026-11-21`. */
export type UsageDay = string;

/** What the id of a caller was taken from. */
export const KNOWN_BY = ['token', 'key', 'certificate', 'address'] as const;

/** Who called, and what. The text of a consumer is data about persons: it is never a label and never logged. */
export interface UsageSubject {
  /** The id of a known consumer, or the address of an unknown one (IPv6 by its /64). */
  readonly consumer: string;
  readonly via: (typeof KNOWN_BY)[number];
  readonly api: string;
  readonly version: string;
  /** `GET /search`; undefined for what no operation of the policy names. */
  readonly operation: string | undefined;
}

/** One request of a subject, with nothing in it that a client chose but its id. */
export interface UsageSample {
  readonly method: string;
  /** The template of the route, never the path that was asked for. */
  readonly template: string;
  readonly requestId: string;
}

/** What is known of a subject; the same shape for what was counted since the last flush. */
export interface UsageRecord extends UsageSubject {
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly callsByDay: Readonly<Record<UsageDay, number>>;
  /** User agents, cut and without control characters, the latest last; a few. */
  readonly agents: readonly string[];
  readonly sample: UsageSample | undefined;
}

/** Everything left out is everything. */
export interface UsageFilter {
  readonly api?: string;
  readonly version?: string;
  readonly consumer?: string;
  /** What the consumer is known by: the id of a token may be spelled like that of a key, or like an address. */
  readonly via?: UsageSubject['via'];
  /** Records without a call on this day or later are left out, and days before it are not counted. */
  readonly since?: UsageDay;
}

export interface UsagePage {
  readonly records: readonly UsageRecord[];
  /** Where the next page begins, as place.ts writes it; it may be empty. Undefined behind the last. */
  readonly next: string | undefined;
}

/** Which days are added up: those since the first that counts, and the weeks whose comparison is the trend. */
export interface CountedDays {
  /** The first day that counts. */
  readonly since: UsageDay;
  /** The first day that has to be read: the trend may look further back than the count. */
  readonly readFrom: UsageDay;
  /** The seven whole days before the day of the look begin here: a day that has only begun would always seem a fall. */
  readonly weekFrom: UsageDay;
  /** The seven before them. */
  readonly weekBeforeFrom: UsageDay;
  /** The day of the look. */
  readonly today: UsageDay;
}

/** What a record comes to in the days of a look. */
export interface UsageCount extends UsageSubject, Pick<UsageRecord, 'firstAt' | 'lastAt' | 'agents'> {
  readonly calls: number;
  readonly week: number;
  readonly weekBefore: number;
}

export interface CountedPage {
  readonly records: readonly UsageCount[];
  /** As that of a page of records. */
  readonly next: string | undefined;
}

/**
 * `after`: `next` of the page before, or any place as place.ts writes them. `limit`: at least 1; of a slow store a page may
 * have fewer records though more follow.
 */
export interface PageAsked {
  readonly after: string | undefined;
  readonly limit: number;
}

export type UsageVersion = Pick<UsageSubject, 'api' | 'version'>;

/** What one process counted since its last batch. */
export interface UsageBatch {
  /** The process: an id that no other has, nor itself after a restart. */
  readonly writer: string;
  /** 1, 2, 3 … of that writer, one after the other: a number that is not above its last has been counted already. */
  readonly number: number;
  /** When it was made, by the clock of the lifecycle. */
  readonly at: EpochMs;
  /** Versions whose calls are counted from now on, as far as they were not told yet; an API's operations with it. */
  readonly watched: readonly UsageVersion[];
  /** At most `MOST_IN_BATCH`, each of another subject. */
  readonly records: readonly UsageRecord[];
}

export interface FirstSeen {
  /** Undefined: never. */
  readonly at: EpochMs | undefined;
  /** Since when calls of the version are counted; undefined: not yet. Who was not seen before says nothing. */
  readonly countedSince: EpochMs | undefined;
}

/** More would keep a store too long from what requests ask of it. */
export const MOST_IN_BATCH = 100;

/** Rejects with `StoreUnavailable` when the store does not answer in time. */
export interface LedgerStore {
  /** Adds what was counted, all or nothing; a batch that is sent again is counted once. */
  readonly add: (batch: UsageBatch) => Promise<void>;
  /**
   * In the order of api, version, consumer, via, operation, so that records of one consumer stand together.
   *
   * @throws RangeError when `after` is no place, or no calendar has the day `since`
   */
  readonly read: (filter: UsageFilter, page: PageAsked) => Promise<UsagePage>;
  /**
   * The same, added up where it is kept: for whoever looks at many, since a record may have hundreds of days. Records
   * without a call from `readFrom` on are left out.
   */
  readonly count: (
    filter: Omit<UsageFilter, 'since'>,
    days: CountedDays,
    page: PageAsked,
  ) => Promise<CountedPage>;
  /**
   * When a consumer was first seen on a version, whatever the operation and whatever proved its id: who changes from a key
   * to tokens is nobody new. An address is nobody's id. A request waits for it: one question, within what one may wait.
   */
  readonly firstSeen: (adopter: Adopter) => MaybePromise<FirstSeen>;
  /**
   * Since when calls are counted: of that version, or of the first that any were counted of. Who was not seen before says
   * nothing. Undefined: not yet.
   */
  readonly beganAt: (of?: UsageVersion) => Promise<EpochMs | undefined>;
  /** Calls are no longer counted: whoever begins again has counted since then, whatever was counted before. */
  readonly unwatch: () => Promise<void>;
  /** Forgets a consumer whole, whatever it was known by; how many records that were. */
  readonly erase: (consumer: string) => Promise<number>;
  /** Forgets days before `day`, and records that have none left; how many records went. */
  readonly sweep: (day: UsageDay) => Promise<number>;
}

/** Who calls what, whatever it is known by. */
export type Adopter = Pick<UsageSubject, 'consumer' | 'api' | 'version'>;

/** What is known of who came when. Instants are those of the lifecycle clock. */
export interface Adoption {
  /** Of a call before its version was frozen: who has made one is known here from then on, before any store has heard of it. */
  readonly saw: (adopter: Adopter, now: EpochMs) => void;
  /**
   * Whether a consumer was first seen on a version at `freeze` or later, or never. False as well where nobody can know:
   * the store is away, or counts calls of the version only since then. Never rejects.
   */
  readonly isLate: (adopter: Adopter, freeze: EpochMs, now: EpochMs) => MaybePromise<boolean>;
}

/** What orders records: api, version, consumer, via, operation; an operation that is none is ''. */
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

/** Undefined for a text that is no place; whoever asks for a page may have written anything. */
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
