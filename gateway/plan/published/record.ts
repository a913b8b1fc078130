// The store port of the last accepted policy files, which published schedules are compared with.
import type { EpochMs } from '../../policy/contract.ts';
import type { Label } from '../../policy/versioning/resolution.ts';

export interface PublishedFile {
  /** Descriptions and guides belong to the policy that names them. */
  readonly kind: 'policy' | 'description' | 'guide';
  /** As printed in problems. Not a path to read from. */
  readonly name: string;
  /** As written by the operator, without values from the environment. */
  readonly text: string;
}

export interface PublishedDates {
  readonly released?: EpochMs | undefined;
  /** Only from files, never recorded. */
  readonly announced?: EpochMs | undefined;
  readonly deprecated?: EpochMs | undefined;
  /** As first published. */
  readonly sunset?: EpochMs | undefined;
  /** The last extension. */
  readonly extended?: EpochMs | undefined;
  readonly forgotten?: EpochMs | undefined;
  /** Sunsets of operations with their own, by the operation as written. */
  readonly operations?: Readonly<Record<string, EpochMs>> | undefined;
}

/** Published dates of a version that were removed from all files. They apply again if the version comes back. */
export interface FormerVersion extends Omit<PublishedDates, 'announced'> {
  readonly kind: 'former';
  readonly api: string;
  readonly label: Label;
  /** Hosts and paths of its API. */
  readonly places: readonly string[];
  /** When it was removed from the files. */
  readonly left: EpochMs;
}

/** A change of published dates that an operator has accepted. It covers this change only. */
export interface AcceptedChange extends PublishedChange {
  readonly kind: 'accepted';
  readonly by: string;
  readonly why: string;
  /** By the real clock. */
  readonly at: EpochMs;
}

export interface PublishedChange {
  readonly api: string;
  readonly label: Label;
  /** For example `sunset 2026-12-31T00:00:00Z`, `GET /search sunset 2026-12-31T00:00:00Z` or `removed`. */
  readonly to: string;
}

/** A policy file that another one has replaced. A gateway that starts with it is out of date. */
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
  /** The files of the last plan that any gateway on this store accepted, and entries from before. Empty at first. */
  readonly entries: readonly PublishedEntry[];
  /** Version of the record, for optimistic locking. */
  readonly mark: string;
}

/** All functions reject with `StoreUnavailable` only. */
export interface PublishedRecord {
  readonly read: () => Promise<RecordRead>;
  /** Returns false and writes nothing if another gateway wrote since `mark` was read. */
  readonly write: (entries: readonly PublishedEntry[], mark: string) => Promise<boolean>;
}
