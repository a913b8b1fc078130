// The facts of an API, a version or an operation that sections name.
import type { Fact } from '../../sections/facts.ts';
import { SECTIONS } from '../../sections/list.ts';
import type { Facts, FactsByKey, Holders } from '../../sections/section.ts';
import type { Path, SourceDocument } from '../read/document.ts';

/** By key, in the order of the list of sections. */
export function sectionFacts<K extends keyof Holders>(
  whose: K,
  holder: Holders[K],
  document: SourceDocument,
  at: Path,
): ReadonlyMap<string, readonly Fact[]> {
  const found = SECTIONS.flatMap(({ words }) => {
    const all: Facts = words ?? {};
    const byKey: FactsByKey<Holders[K]> = all[whose] ?? {};
    return Object.entries(byKey).map(([key, factsOf]) => [key, factsOf(holder, document, at)] as const);
  });
  return new Map(found);
}

/** The keys with facts of sections from which versions take something over: an API without versions has them too. */
export const LIFE_KEYS: readonly string[] = SECTIONS.flatMap(({ inherited, words }) =>
  inherited === undefined ? [] : Object.keys(words?.ofVersion ?? {}),
);

/** In the order in which a diff shows their keys. */
export function defaultsOf(whose: keyof Holders): Readonly<Record<string, unknown>> {
  return Object.assign({}, ...SECTIONS.toReversed().map(({ words }) => words?.defaults?.[whose]));
}
