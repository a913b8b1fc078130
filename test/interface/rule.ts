// The types of the table of interface rules and their tests.

/** A file relative to test/journeys, and the exact title of a test in it. */
export type Shown = readonly [file: string, title: string];

export interface Rule {
  /** In the order of the specification, from 1. */
  readonly number: number;
  readonly says: string;
  readonly shown: readonly Shown[];
}

export interface Section {
  readonly name: string;
  readonly rules: readonly Rule[];
}

type Row = readonly [says: string, ...shown: readonly Shown[]];

export function section(name: string, rows: readonly Row[]): Section {
  return { name, rules: rows.map(([says, ...shown], index) => ({ number: index + 1, says, shown })) };
}

/** Tests of one file, by short names. */
export function testsOf<Name extends string>(
  file: string,
  titles: Readonly<Record<Name, string>>,
): Readonly<Record<Name, Shown>> {
  const entries = Object.entries<string>(titles).map(([name, title]) => [name, [file, title]]);
  return Object.fromEntries(entries);
}
