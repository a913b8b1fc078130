// What the bench prints: ratios between peers measured in the same round, as median and spread.
// Requests per second are context only; they belong to the machine and the moment.
import type { Measurement } from './measure.ts';
import { PEERS, type PeerName } from './peers.ts';

/** Every peer once, measured one after the other. */
export type Round = Readonly<Record<PeerName, Measurement>>;

type Reading = (measurement: Measurement) => number | undefined;

const RATIOS: readonly { readonly title: string; readonly of: Reading }[] = [
  { title: 'requests per second (higher is better)', of: (m) => m.perSecond },
  { title: 'CPU per request       (lower is better)', of: (m) => m.cpuPerRequest },
  { title: 'p50 latency           (lower is better)', of: (m) => m.p50 },
  { title: 'p99 latency           (lower is better)', of: (m) => m.p99 },
];

/** The whole report as text, ending in a newline. */
export function report(rounds: readonly Round[], conditions: readonly string[]): string {
  const lines = ['', 'Conditions', ...conditions.map((line) => `  ${line}`), '', ...resultLines(rounds), ''];
  return `${[...lines, ...contextLines(rounds)].join('\n')}\n`;
}

function resultLines(rounds: readonly Round[]): readonly string[] {
  return [
    `Result: median of ${rounds.length} rounds [least to most]`,
    `  ${''.padEnd(40)}${'Sundial / conventional'.padEnd(26)}Sundial / plain`,
    ...RATIOS.map(({ title, of }) => {
      const against = (peer: PeerName): string =>
        spread(rounds.map((round) => ratio(of(round.sundial), of(round[peer]))));
      return `  ${title.padEnd(40)}${against('conventional').padEnd(26)}${against('plain')}`;
    }),
  ];
}

function contextLines(rounds: readonly Round[]): readonly string[] {
  const column = (peer: PeerName, of: Reading, digits: number): string => {
    const known = rounds.map((round) => of(round[peer])).filter((value) => value !== undefined);
    return (known.length === 0 ? 'n/a' : median(known).toFixed(digits)).padStart(12);
  };
  return [
    'Context: medians on this machine at this moment',
    `  ${'peer'.padEnd(14)}${['req/s', 'CPU us/req', 'core busy %', 'p50 ms', 'p99 ms', 'no quota %', 'log B/req'].map((t) => t.padStart(12)).join('')}`,
    ...PEERS.map(
      (peer) =>
        `  ${peer.padEnd(14)}${column(peer, (m) => m.perSecond, 0)}${column(peer, (m) => m.cpuPerRequest, 1)}` +
        `${column(peer, (m) => (m.busy === undefined ? undefined : m.busy * 100), 0)}${column(peer, (m) => m.p50, 2)}` +
        `${column(peer, (m) => m.p99, 2)}${column(peer, (m) => m.withoutQuota * 100, 1)}${column(peer, (m) => m.logPerRequest, 0)}`,
    ),
    '  A proxy whose core is not busy was held back by the load side: there, CPU per request is the figure to trust.',
  ];
}

function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

function spread(ratios: readonly (number | undefined)[]): string {
  const known = ratios.filter((value) => value !== undefined);
  if (known.length === 0) return 'n/a';
  return `${median(known).toFixed(2)} [${Math.min(...known).toFixed(2)} to ${Math.max(...known).toFixed(2)}]`;
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}
