// Counts right, fault and wrong responses per kind of traffic, with the first wrong ones.
import { WrongAnswer } from './state.ts';

export interface Tally {
  /** Never rejects: failures are counted. */
  readonly run: (name: string, work: () => Promise<'fault' | undefined>) => Promise<void>;
  readonly total: () => number;
  readonly table: () => readonly string[];
  /** One sentence per wrong response, the first few of each kind. */
  readonly wrong: () => readonly string[];
}

interface Row {
  right: number;
  faults: number;
  readonly wrong: string[];
}

const SHOWN = 3;

export function createTally(): Tally {
  const rows = new Map<string, Row>();
  const rowOf = (name: string): Row => {
    const row = rows.get(name) ?? { right: 0, faults: 0, wrong: [] };
    rows.set(name, row);
    return row;
  };
  return {
    run: async (name, work) => {
      const row = rowOf(name);
      try {
        if ((await work()) === 'fault') row.faults += 1;
        else row.right += 1;
      } catch (error) {
        row.wrong.push(`${new Date().toISOString().slice(11, 23)} ${wordsOf(error)}`);
      }
    },
    total: () =>
      [...rows.values()].reduce((sum, { right, faults, wrong }) => sum + right + faults + wrong.length, 0),
    table: () => [
      `  ${'traffic'.padEnd(26)}${'right'.padStart(8)}${'faults'.padStart(8)}${'wrong'.padStart(8)}`,
      ...[...rows].map(
        ([name, { right, faults, wrong }]) =>
          `  ${name.padEnd(26)}${String(right).padStart(8)}${String(faults).padStart(8)}${String(wrong.length).padStart(8)}`,
      ),
    ],
    wrong: () =>
      [...rows].flatMap(([name, { wrong }]) => {
        const more = wrong.length > SHOWN ? [`${name}: and ${wrong.length - SHOWN} more`] : [];
        return [...wrong.slice(0, SHOWN).map((each) => `${name}: ${each}`), ...more];
      }),
  };
}

/** An error without a response is reported with its code. */
function wordsOf(error: unknown): string {
  if (error instanceof WrongAnswer) return error.message;
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? ` (${String(error.code)})` : '';
  return `no answer: ${error.message}${code}`;
}
