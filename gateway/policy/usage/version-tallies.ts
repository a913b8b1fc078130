// Sums up consumers and calls per version and operation, over rows that arrive in pages.
import type { UsageSubject } from './ledger.ts';
import { type Counted, pickCounted, sum, type UsageRow } from './rows.ts';

export interface OperationTally extends Counted {
  readonly operation: string | undefined;
  readonly consumers: number;
}

export interface VersionTally extends Counted, Pick<UsageSubject, 'api' | 'version'> {
  readonly consumers: number;
  readonly operations: readonly OperationTally[];
  readonly watched: ReadonlyMap<string, Counted>;
}

export interface VersionTallies {
  readonly add: (rows: readonly UsageRow[]) => void;
  readonly versions: () => readonly VersionTally[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
/** `last`: the consumer counted last. Its rows may continue with another credential or on the next page. */
type Accumulator<T> = Mutable<T> & { last: string };

interface Version extends Accumulator<Omit<VersionTally, 'operations' | 'watched'>> {
  readonly operations: Map<string | undefined, Accumulator<OperationTally>>;
  readonly watched: Map<string, Counted>;
}

/** `watches`: selects consumers to report by id. Addresses are never reported. */
export function createVersionTallies(
  watches: (row: Pick<UsageSubject, 'api' | 'version' | 'consumer'>) => boolean = () => false,
): VersionTallies {
  const versions = new Map<string, Version>();
  const versionOf = (row: UsageRow): Version => {
    const key = `${row.api} ${row.version}`;
    const known = versions.get(key);
    if (known !== undefined) return known;
    const { api, version } = row;
    const fresh = { api, version, ...ZERO, consumers: 0, last: '' };
    const made = { ...fresh, operations: new Map(), watched: new Map() };
    versions.set(key, made);
    return made;
  };
  return {
    add: (rows) => {
      for (const row of rows) {
        const version = versionOf(row);
        count(version, row.consumer, row);
        for (const use of row.operations) {
          const { operation } = use;
          const known = version.operations.get(operation);
          const tally = known ?? { operation, ...ZERO, consumers: 0, last: '' };
          if (known === undefined) version.operations.set(operation, tally);
          count(tally, row.consumer, use);
        }
        if (row.via !== 'address' && watches(row)) {
          const { consumer } = row;
          version.watched.set(consumer, sum(version.watched.get(consumer) ?? ZERO, row));
        }
      }
    },
    versions: () =>
      [...versions.values()].map(({ api, version, consumers, operations, watched, ...counted }) => ({
        api,
        version,
        consumers,
        ...pickCounted(counted),
        operations: [...operations.values()].map(({ last: _last, ...tally }) => tally),
        watched,
      })),
  };
}

const ZERO: Counted = {
  calls: 0,
  trend: { week: 0, weekBefore: 0 },
  firstAt: Number.POSITIVE_INFINITY,
  lastAt: Number.NEGATIVE_INFINITY,
};

function count(
  tally: Accumulator<Counted & { consumers: number }>,
  consumer: string,
  counted: Counted,
): void {
  Object.assign(tally, sum(tally, counted));
  if (tally.last !== consumer) tally.consumers += 1;
  tally.last = consumer;
}
