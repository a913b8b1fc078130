// The facts of an API, a version or an operation that sections name.
import type { Fact } from '../../sections/facts.ts';
import { INHERITED, SECTIONS } from '../../sections/list.ts';
import type { VersionFile } from '../../sections/policy-file.ts';
import type { Facts, FactsByKey, Holders } from '../../sections/section.ts';
import type { Path, SourceDocument } from '../read/document.ts';

/** In the order of the list of sections, without those of `inheritedFacts`. */
export function sectionFacts<K extends keyof Holders>(
  whose: K,
  holder: Holders[K],
  document: SourceDocument,
  at: Path,
): readonly Fact[] {
  return entriesOf(whose)
    .filter(([key]) => whose !== 'ofVersion' || !isInherited(key))
    .flatMap(([, factsOf]) => factsOf(holder, document, at));
}

/** Of what a version may have taken over from its API. */
export function inheritedFacts(version: VersionFile, document: SourceDocument, at: Path): readonly Fact[] {
  return entriesOf('ofVersion')
    .filter(([key]) => isInherited(key))
    .flatMap(([, factsOf]) => factsOf(version, document, at));
}

export function keysWithFacts(whose: keyof Holders): readonly string[] {
  return entriesOf(whose).map(([key]) => key);
}

export function defaultsOf(whose: keyof Holders): Readonly<Record<string, unknown>> {
  return Object.assign({}, ...SECTIONS.map(({ words }) => words?.defaults?.[whose]));
}

function isInherited(key: string): boolean {
  return Object.hasOwn(INHERITED, key);
}

function entriesOf<K extends keyof Holders>(whose: K) {
  return SECTIONS.flatMap(({ words }) => {
    const all: Facts = words ?? {};
    const byKey: FactsByKey<Holders[K]> = all[whose] ?? {};
    return Object.entries(byKey);
  });
}
