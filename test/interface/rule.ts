// The form of the table that says where each rule of the interface is shown.
// Read by the section files beside it and by test/interface-rules.test.ts.

/** A file as seen from test/journeys, and the title of a test in it as it is written there. */
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

/** Tests of one file, by a name for each. */
export function testsOf<Name extends string>(
  file: string,
  titles: Readonly<Record<Name, string>>,
): Readonly<Record<Name, Shown>> {
  const entries = Object.entries<string>(titles).map(([name, title]) => [name, [file, title]]);
  return Object.fromEntries(entries);
}
