// The facts of a policy with defaults filled in, so that writing out a default is no change.
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { type ApiFacts, type ComparedPart, type Fact, otherFacts } from '../../sections/facts.ts';
import { INHERITED, SECTIONS } from '../../sections/list.ts';
import type { PolicyFile, VersionFile } from '../../sections/policy-file.ts';
import type { Facts, FactsByKey, KeyOwners } from '../../sections/section.ts';
import type { PolicySource } from '../load-documents.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { versionsOf } from '../versions.ts';

export function factsOf({ file, document }: PolicySource): ApiFacts {
  const upstreams = Object.entries(file.upstreams ?? {}).map(([name, upstream]): ComparedPart => {
    const facts = factsAt('ofUpstream', { ...upstream, file }, document, ['upstreams', name]);
    return { noun: 'upstream', name: `upstream ${name}`, facts: facts.withOthers(facts.keys) };
  });
  const api: ComparedPart = { noun: 'api', name: '', facts: apiFacts(file, document) };
  return { api: file.api, subjects: [api, ...versionSubjects(file, document), ...upstreams] };
}

/** Keys of facts that versions inherit. An API without versions has them too. */
const LIFECYCLE_KEYS: readonly string[] = SECTIONS.flatMap(({ inherited, words }) =>
  inherited === undefined ? [] : Object.keys(words?.ofVersion ?? {}),
);

function apiFacts(file: PolicyFile, document: SourceDocument): readonly Fact[] {
  const whole = versionsOf(file).get(UNVERSIONED);
  const life = whole === undefined ? [] : factsAt('ofVersion', whole, document, []).ofKeys(LIFECYCLE_KEYS);
  // Versions compare inherited keys, so that moving a date between API and version is no change.
  const ofVersions = whole === undefined ? Object.keys(INHERITED) : LIFECYCLE_KEYS;
  const apart = ['upstreams', 'versions', ...ofVersions];
  return [...life, ...factsAt('ofApi', file, document, []).withOthers([], apart)];
}

function versionSubjects({ versions }: PolicyFile, document: SourceDocument): readonly ComparedPart[] {
  if (versions === 'none') return [];
  return Object.entries(versions).flatMap(([label, version]): readonly ComparedPart[] => {
    const at: Path = ['versions', label];
    const facts = factsAt('ofVersion', version, document, at).withOthers(
      [...LIFECYCLE_KEYS, 'access'],
      ['operations'],
    );
    return [{ noun: 'version', name: label, facts }, ...operationSubjects(label, version, document)];
  });
}

/** Inherited keys are compared in the version. */
function operationSubjects(label: string, version: VersionFile, document: SourceDocument) {
  return Object.entries(version.operations ?? {}).map(([name, operation]): ComparedPart => {
    const at = ['versions', label, 'operations', name];
    const facts = factsAt('ofOperation', { ...operation, version }, document, at);
    const first = ['deprecated', 'sunset', 'successor', 'after'];
    return { noun: 'operation', name: `${label} ${name}`, facts: facts.withOthers(first) };
  });
}

/** The facts of all sections, by key, in the order of the list of sections. */
function factsAt<K extends keyof KeyOwners>(
  owner: K,
  holder: KeyOwners[K],
  document: SourceDocument,
  at: Path,
) {
  const found = SECTIONS.flatMap(({ words }) => {
    const all: Facts = words ?? {};
    const byKey: FactsByKey<KeyOwners[K]> = all[owner] ?? {};
    return Object.entries(byKey).map(([key, facts]) => [key, facts(holder, document, at)] as const);
  });
  const facts = new Map(found);
  const keys = [...facts.keys()];
  const ofKeys = (some: readonly string[]) => some.flatMap((key) => facts.get(key) ?? []);
  // Reversed, since a diff shows the keys in the order of this object.
  const defaults = Object.assign({}, ...SECTIONS.toReversed().map(({ words }) => words?.defaults?.[owner]));
  return {
    keys,
    ofKeys,
    /** In order: the keys `first`, keys compared as text, the rest. `apart`: keys compared elsewhere. */
    withOthers: (first: readonly string[], apart: readonly string[] = []): readonly Fact[] => [
      ...ofKeys(first),
      ...otherFacts(document, at, new Set([...keys, ...apart]), defaults),
      ...ofKeys(keys.filter((key) => !first.includes(key))),
    ],
  };
}
