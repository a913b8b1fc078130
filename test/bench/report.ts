// The output of the benches: ratios between peers of one round. Absolute figures depend on the machine.
import type { Peer } from './peers.ts';
import type { Measured, Outcome } from './rounds.ts';

/** With more responses without quota headers, Redis was too slow for a measurement. */
const QUOTA_SLACK = 0.05;

interface Reading {
  readonly title: string;
  readonly better: 'higher' | 'lower';
  /** One figure for each round. Empty if not measured. */
  readonly of: (measured: Measured) => readonly (number | undefined)[];
}

const RATIOS: readonly Reading[] = [
  { title: 'requests/s', better: 'higher', of: ({ full }) => full.map((m) => m.perSecond) },
  { title: 'CPU/request', better: 'lower', of: ({ full }) => full.map((m) => m.cpuPerRequest) },
  { title: 'p99 at steady rate', better: 'lower', of: ({ steady }) => steady.map((m) => m.p99) },
  { title: 'RSS', better: 'lower', of: ({ full }) => full.map((m) => m.resident) },
];

interface Column {
  readonly title: string;
  readonly of: Reading['of'];
  readonly digits: number;
}

const FULL_COLUMNS: readonly Column[] = [
  { title: 'req/s', of: ({ full }) => full.map((m) => m.perSecond), digits: 0 },
  { title: 'CPU us/req', of: ({ full }) => full.map((m) => m.cpuPerRequest), digits: 1 },
  { title: 'core %', of: ({ full }) => full.map((m) => m.busy && m.busy * 100), digits: 0 },
  { title: 'p50 ms', of: ({ full }) => full.map((m) => m.p50), digits: 2 },
  { title: 'p99 ms', of: ({ full }) => full.map((m) => m.p99), digits: 2 },
  { title: 'log B/req', of: ({ full }) => full.map((m) => m.logPerRequest), digits: 0 },
  { title: 'RSS MB', of: ({ full }) => full.map((m) => m.resident), digits: 0 },
];

const [NAME, RATIO, FIGURE] = [26, 28, 11];

export function outcomeLines({ load, measured }: Outcome): readonly string[] {
  const [own, ...others] = measured;
  if (own === undefined) return [];
  return [
    '',
    load.title,
    ...(others.length === 0 ? ['  there is no peer to compare with'] : ratioLines(own, others)),
    ...figureLines(measured),
    ...warnings(measured),
  ];
}

function ratioLines(own: Measured, others: readonly Measured[]): readonly string[] {
  const rows = RATIOS.filter(({ of }) => of(own).length > 0);
  const heading = ({ title, better }: Reading): string => `${title} (${better})`.padEnd(RATIO);
  return [
    `  ${`${own.peer.name} /`.padEnd(NAME)}${rows.map(heading).join('')}`.trimEnd(),
    ...others.map((other) => {
      const cells = rows.map(({ of }) => spread(ratios(of(own), of(other))).padEnd(RATIO));
      return `  ${other.peer.name.padEnd(NAME)}${cells.join('')}`.trimEnd();
    }),
  ];
}

function figureLines(measured: readonly Measured[]): readonly string[] {
  const asked = measured[0]?.steady[0]?.asked;
  const steadily: readonly Column[] = [
    { title: `at ${asked}/s`, of: ({ steady }) => steady.map((m) => m.perSecond), digits: 0 },
    { title: 'p50 ms', of: ({ steady }) => steady.map((m) => m.p50), digits: 2 },
    { title: 'p99 ms', of: ({ steady }) => steady.map((m) => m.p99), digits: 2 },
  ];
  const columns = asked === undefined ? FULL_COLUMNS : [...FULL_COLUMNS, ...steadily];
  const row = (name: string, cells: readonly string[]): string =>
    `  ${name.padEnd(NAME)}${cells.map((cell) => cell.padStart(FIGURE)).join('')}`;
  return [
    row(
      'here and now',
      columns.map(({ title }) => title),
    ),
    ...measured.map((each) =>
      row(
        each.peer.name,
        columns.map(({ of, digits }) => middle(of(each), digits)),
      ),
    ),
  ];
}

function warnings(measured: readonly Measured[]): readonly string[] {
  return measured.flatMap(({ peer, steady }) => {
    const found: string[] = [];
    const slow = steady.filter(({ asked, perSecond }) => perSecond < 0.95 * asked).length;
    if (slow > 0) found.push(`  ! ${peer.name} missed the steady rate in ${slow} of ${steady.length} rounds`);
    const without = median(steady.map(({ withoutQuota }) => withoutQuota));
    if (without > QUOTA_SLACK)
      found.push(
        `  ! ${peer.name}: ${(without * 100).toFixed(0)} % of the answers had no quota headers, Redis was too slow`,
      );
    return found;
  });
}

/** Ratios of a peer under one load to a peer under another load. */
export function acrossLine(title: string, one: Measured, other: Measured): string {
  const cells = RATIOS.slice(0, 2).map(
    ({ title: of, of: read }) => `${of} ${spread(ratios(read(one), read(other)))}`,
  );
  return `  ${title.padEnd(48)}${cells.join('   ')}`;
}

/** Resident memory of every peer after its start, and as `read` returns it. `now`: heading of the latter. */
export function memoryLines(
  peers: readonly Peer[],
  now: string,
  read: (peer: Peer) => number | undefined,
): readonly string[] {
  return [
    '',
    `${'Resident memory, MB, all processes'.padEnd(NAME + 12)}${'after start'.padStart(14)}${now.padStart(28)}`,
    ...peers.map(
      (peer) =>
        `  ${peer.name.padEnd(NAME + 10)}${whole(peer.startedWith).padStart(14)}${whole(read(peer)).padStart(28)}`,
    ),
  ];
}

function whole(value: number | undefined): string {
  return value === undefined ? 'n/a' : value.toFixed(0);
}

function ratios(
  one: readonly (number | undefined)[],
  other: readonly (number | undefined)[],
): readonly number[] {
  return one.flatMap((value, at) => {
    const by = other[at];
    return value === undefined || by === undefined ? [] : [value / by];
  });
}

/** Median, minimum and maximum. */
export function spread(values: readonly number[], digits = 2): string {
  if (values.length === 0) return 'n/a';
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(digits)} [${least.toFixed(digits)} to ${most.toFixed(digits)}]`;
}

function middle(values: readonly (number | undefined)[], digits: number): string {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? 'n/a' : median(known).toFixed(digits);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(at) - 1, Math.floor(at) + 1);
  return (low + high) / 2;
}
