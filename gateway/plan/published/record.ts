// The store port for the last accepted policy files: a published schedule is compared with them.
import type { EpochMs } from '../../policy/contract.ts';
import type { Label } from '../../policy/versioning/resolution.ts';

export interface PublishedFile {
  /** Descriptions and guides are read where a policy names them. */
  readonly kind: 'policy' | 'description' | 'guide';
  /** As shown in problems; a name, not a place to read from. */
  readonly name: string;
  /** As the operator wrote it: nothing from the environment is filled in. */
  readonly text: string;
}

/** Dates of a version as callers were told them. */
export interface PublishedDates {
  readonly released?: EpochMs | undefined;
  /** Of a file alone. */
  readonly announced?: EpochMs | undefined;
  readonly deprecated?: EpochMs | undefined;
  /** As first published. */
  readonly sunset?: EpochMs | undefined;
  /** The last extension. */
  readonly extended?: EpochMs | undefined;
  readonly forgotten?: EpochMs | undefined;
  /** Sunsets of operations that had one of their own, by the operation as written. */
  readonly operations?: Readonly<Record<string, EpochMs>> | undefined;
}

/** Published dates of a version that no file states any more; they hold again if the version comes back. */
export interface FormerVersion extends Omit<PublishedDates, 'announced'> {
  readonly kind: 'former';
  readonly api: string;
  readonly label: Label;
  /** Hosts and paths under which its API was reached. */
  readonly places: readonly string[];
  /** When it was left out. */
  readonly left: EpochMs;
}

/** One change of what was published that an operator has accepted: good for this change alone. */
export interface AcceptedChange extends PublishedChange {
  readonly kind: 'accepted';
  readonly by: string;
  readonly why: string;
  /** By the real clock. */
  readonly at: EpochMs;
}

/** The change of a published schedule that a finding is about. */
export interface PublishedChange {
  readonly api: string;
  readonly label: Label;
  /** Such as `sunset 2026-12-31T00:00:00Z`, `GET /search sunset 2026-12-31T00:00:00Z` or `removed`. */
  readonly to: string;
}

/** A policy file that another one has replaced since: a gateway that starts with it comes late. */
export interface SupersededFile {
  readonly kind: 'superseded';
  /** SHA-256 of its text, hex. */
  readonly digest: string;
}

export type PublishedEntry = PublishedFile | FormerVersion | AcceptedChange | SupersededFile;

export function isFile(entry: PublishedEntry): entry is PublishedFile {
  return 'text' in entry;
}

export interface RecordRead {
  /** The files of the plan accepted last, by any gateway on this store, and what earlier ones said; empty at first. */
  readonly entries: readonly PublishedEntry[];
  /** Names this very record; another one has another mark. */
  readonly mark: string;
}

/** Every answer rejects with `StoreUnavailable` only. */
export interface PublishedRecord {
  readonly read: () => Promise<RecordRead>;
  /** False, and nothing is written, if the record is not the one that `mark` was read with: another gateway was later. */
  readonly write: (entries: readonly PublishedEntry[], mark: string) => Promise<boolean>;
}
