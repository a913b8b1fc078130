// Facts of each version and operation: of the keys that sections name, the rest as written.
import { type Fact, otherFacts, type Subject } from '../../sections/facts.ts';
import type { OperationFile, PolicyFile, VersionFile } from '../../sections/policy-file.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { defaultsOf, LIFE_KEYS, sectionFacts } from './section-facts.ts';

export function versionSubjects(file: PolicyFile, document: SourceDocument): readonly Subject[] {
  if (file.versions === 'none') return [];
  return Object.entries(file.versions).flatMap(([label, version]): readonly Subject[] => {
    const at: Path = ['versions', label];
    const operations = Object.entries(version.operations ?? {}).map(
      ([name, operation]): Subject => ({
        noun: 'operation',
        name: `${label} ${name}`,
        facts: operationFacts(operation, version, document, [...at, 'operations', name]),
      }),
    );
    return [{ noun: 'version', name: label, facts: versionFacts(version, document, at) }, ...operations];
  });
}

function versionFacts(version: VersionFile, document: SourceDocument, at: Path): readonly Fact[] {
  const facts = sectionFacts('ofVersion', version, document, at);
  const known = new Set([...facts.keys(), 'operations']);
  const others = otherFacts(document, at, known, defaultsOf('ofVersion'));
  return inOrder(facts, [...LIFE_KEYS, 'access'], others);
}

/** The dates, and what hangs on them, of an API without versions. */
export function lifeFacts(whole: VersionFile, document: SourceDocument): readonly Fact[] {
  const facts = sectionFacts('ofVersion', whole, document, []);
  return LIFE_KEYS.flatMap((key) => facts.get(key) ?? []);
}

/** What an operation does not say is its version's, and is compared there. */
function operationFacts(
  operation: OperationFile,
  version: VersionFile,
  document: SourceDocument,
  at: Path,
): readonly Fact[] {
  const facts = sectionFacts('ofOperation', { ...operation, version }, document, at);
  const others = otherFacts(document, at, new Set(facts.keys()));
  return inOrder(facts, ['deprecated', 'sunset', 'successor', 'after'], others);
}

/** Those of the keys `first`, then the others, then those of all further keys. */
function inOrder(
  facts: ReadonlyMap<string, readonly Fact[]>,
  first: readonly string[],
  others: readonly Fact[],
): readonly Fact[] {
  const further = facts.keys().filter((key) => !first.includes(key));
  const factsOf = (key: string) => facts.get(key) ?? [];
  return [...first.flatMap(factsOf), ...others, ...further.flatMap(factsOf)];
}
