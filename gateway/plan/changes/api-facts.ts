// Facts of an API as a whole and of its upstreams, with defaults filled in: writing out a default is no change.

import { spanInWords } from '../../policy/spans.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import {
  type ApiFacts,
  type Fact,
  membersFact,
  otherFacts,
  plainWord,
  type Subject,
  wordFact,
  writtenWord,
} from '../../sections/facts.ts';
import { INHERITED } from '../../sections/list.ts';
import type { PolicyFile, UpstreamFile } from '../../sections/policy-file.ts';
import { DEFAULT_VERSION_HEADER } from '../../sections/resolve/grammar.ts';
import { compileTargetRules, compileTimeouts } from '../compile/upstream.ts';
import type { PolicySource } from '../load-documents.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import type { BreakerRules, HealthRules } from '../upstreams/target-rules.ts';
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

const KNOWN_OF_UPSTREAM = new Set([
  'targets',
  'path',
  'version_as',
  'timeout',
  'balance',
  'slow_start',
  'health',
  'breaker',
]);

function upstreamFacts(
  upstream: UpstreamFile,
  { base, versions }: PolicyFile,
  document: SourceDocument,
  at: Path,
): readonly Fact[] {
  const { targets, path = base, version_as: told = { header: DEFAULT_VERSION_HEADER }, timeout } = upstream;
  const target = targets.map((each, index) => writtenWord(document, [...at, 'targets', index], each));
  const timeouts = Object.entries(compileTimeouts(timeout)).flatMap(([name, ms]) =>
    wordFact(`timeout ${name}`, plainWord(spanInWords(0, ms))),
  );
  return [
    membersFact('target', target),
    ...wordFact('path', plainWord(path)),
    ...(versions === 'none'
      ? []
      : wordFact('version_as', writtenWord(document, [...at, 'version_as'], told))),
    ...timeouts,
    ...targetFacts(upstream),
    ...otherFacts(document, at, KNOWN_OF_UPSTREAM, { authorization: 'keep' }),
  ];
}

function targetFacts(upstream: UpstreamFile): readonly Fact[] {
  const { balance, slowStart, health, breaker } = compileTargetRules(upstream);
  const several = upstream.targets.length > 1;
  return [
    ...wordFact('balance', several ? plainWord(balance) : undefined),
    ...wordFact('slow_start', slowStart === 0 ? undefined : plainWord(span(slowStart))),
    ...wordFact('health', health && plainWord(spellHealth(health))),
    ...wordFact('breaker', plainWord(breaker === undefined ? 'off' : spellBreaker(breaker))),
  ];
}

function spellHealth({ path, every, timeout, healthy, unhealthy }: HealthRules): string {
  return `${path} every ${span(every)}, timeout ${span(timeout)}, healthy ${healthy}, unhealthy ${unhealthy}`;
}

function spellBreaker({ failures, open, strict }: BreakerRules): string {
  return `${failures} failures, open ${span(open)}${strict ? '' : ', never the last target'}`;
}

function span(ms: number): string {
  return spanInWords(0, ms);
}
