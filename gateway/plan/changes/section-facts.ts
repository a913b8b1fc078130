// The facts of an API, a version or an operation that sections name.
import type { Fact } from '../../sections/facts.ts';
import { INHERITED, SECTIONS } from '../../sections/list.ts';
import type { Facts, FactsByKey, Holders } from '../../sections/section.ts';
import type { Path, SourceDocument } from '../read/document.ts';

/** In the order of the list of sections. */
export function sectionFacts<K extends keyof Holders>(
  whose: K,
  holder: Holders[K],
  document: SourceDocument,
  at: Path,
  includes: (key: string) => boolean = () => true,
): readonly Fact[] {
  return entriesOf(whose)
    .filter(([key]) => includes(key))
    .flatMap(([, factsOf]) => factsOf(holder, document, at));
}

export function keysWithFacts(whose: keyof Holders): readonly string[] {
  return entriesOf(whose).map(([key]) => key);
}

export function defaultsOf(whose: keyof Holders): Readonly<Record<string, unknown>> {
  return Object.assign({}, ...SECTIONS.map(({ words }) => words?.defaults?.[whose]));
}

/** Whether a version may have taken it over from its API. */
export function isInherited(key: string): boolean {
  return Object.hasOwn(INHERITED, key);
}

function entriesOf<K extends keyof Holders>(whose: K) {
  return SECTIONS.flatMap(({ words }) => {
    const all: Facts = words ?? {};
    const byKey: FactsByKey<Holders[K]> = all[whose] ?? {};
    return Object.entries(byKey);
  });
}
