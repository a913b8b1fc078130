// Facts of an API as a whole and of its upstreams, with defaults filled in: writing out a default is no change.
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { type ApiFacts, type Fact, otherFacts, type Subject } from '../../sections/facts.ts';
import { INHERITED } from '../../sections/list.ts';
import type { PolicyFile, UpstreamFile } from '../../sections/policy-file.ts';
import type { PolicySource } from '../load-documents.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { versionsOf } from '../versions.ts';
import { defaultsOf, LIFE_KEYS, sectionFacts } from './section-facts.ts';
import { lifeFacts, versionSubjects } from './version-facts.ts';

export function factsOf({ file, document }: PolicySource): ApiFacts {
  const api: Subject = { noun: 'api', name: '', facts: apiFacts(file, document) };
  const upstreams = Object.entries(file.upstreams ?? {}).map(
    ([name, upstream]): Subject => ({
      noun: 'upstream',
      name: `upstream ${name}`,
      facts: upstreamFacts(upstream, file, document, ['upstreams', name]),
    }),
  );
  return { api: file.api, subjects: [api, ...versionSubjects(file, document), ...upstreams] };
}

function apiFacts(file: PolicyFile, document: SourceDocument): readonly Fact[] {
  const ofSections = sectionFacts('ofApi', file, document, []);
  // What versions take over is compared there, so that moving a date from one to the other is no change.
  const ofVersions = file.versions === 'none' ? LIFE_KEYS : Object.keys(INHERITED);
  const known = new Set(['upstreams', 'versions', ...ofVersions, ...ofSections.keys()]);
  return [
    ...lifeOf(file, document),
    ...otherFacts(document, [], known, defaultsOf('ofApi')),
    ...[...ofSections.values()].flat(),
  ];
}

function lifeOf(file: PolicyFile, document: SourceDocument): readonly Fact[] {
  const whole = versionsOf(file).get(UNVERSIONED);
  return whole === undefined ? [] : lifeFacts(whole, document);
}

function upstreamFacts(
  upstream: UpstreamFile,
  file: PolicyFile,
  document: SourceDocument,
  at: Path,
): readonly Fact[] {
  const facts = sectionFacts('ofUpstream', { ...upstream, file }, document, at);
  const others = otherFacts(document, at, new Set(facts.keys()), defaultsOf('ofUpstream'));
  return [...[...facts.values()].flat(), ...others];
}
