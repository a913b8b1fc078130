// Access as facts: what an API says of it, and a version or an operation instead of it.
import { type Fact, membersFact, plainWord, type Word, wordFact, writtenWord } from '../../sections/facts.ts';
import type { OperationFile, PolicyFile, VersionFile } from '../../sections/policy-file.ts';
import type { Path, SourceDocument } from '../read/document.ts';

type Access = PolicyFile['access'] | VersionFile['access'];

/** None for a version that takes all of it over. */
export function accessFacts(access: Access, document: SourceDocument, at: Path): readonly Fact[] {
  if (access === undefined) return [];
  if (access === 'public') return wordFact('access', plainWord('public'));
  const { identity, anonymous, scopes } = access;
  const facts = (['read', 'write'] as const).flatMap((use) => scopeFacts(`scope to ${use}`, scopes[use]));
  const by = identity === undefined ? [] : wordFact('access', identityWord(document, at, identity));
  return [...by, ...wordFact('anonymous', anonymous ? plainWord('true') : undefined), ...facts];
}

export function operationAccessFacts({ access }: OperationFile): readonly Fact[] {
  return [
    ...wordFact('access', access === 'public' ? plainWord('public') : undefined),
    ...(typeof access === 'object' ? scopeFacts('scope', access.scopes) : [membersFact('scope', [])]),
  ];
}

function identityWord(document: SourceDocument, at: Path, identity: string | readonly string[]): Word {
  const { same, shown } = writtenWord(document, [...at, 'identity'], identity);
  return { same: `by ${same}`, shown: `by ${shown}` };
}

/** That everybody may is said; that nobody may, since nothing is granted, is the absence of it. */
function scopeFacts(what: string, scopes: readonly string[] | undefined): readonly Fact[] {
  const isAny = scopes !== undefined && scopes.length === 0;
  return [membersFact(what, (isAny ? ['any'] : (scopes ?? [])).map(plainWord))];
}
