// The facts of an API, a version or an operation that sections name.
import type { Fact } from '../../sections/facts.ts';
import { SECTIONS } from '../../sections/list.ts';
import type { FactsByKey, Holders, Words } from '../../sections/section.ts';
import type { Path, SourceDocument } from '../read/document.ts';

/** In the order of the list of sections. */
export function sectionFacts<K extends keyof Holders>(
  whose: K,
  holder: Holders[K],
  document: SourceDocument,
  at: Path,
): readonly Fact[] {
  return entriesOf(whose).flatMap(([, factsOf]) => factsOf(holder, document, at));
}

export function keysWithFacts(whose: keyof Holders): readonly string[] {
  return entriesOf(whose).map(([key]) => key);
}

function entriesOf<K extends keyof Holders>(whose: K) {
  return SECTIONS.flatMap(({ words }) => {
    const all: Words = words ?? {};
    const byKey: FactsByKey<Holders[K]> = all[whose] ?? {};
    return Object.entries(byKey);
  });
}
