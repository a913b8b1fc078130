// The diff of `access`: identities, and the scopes for each use.

import type { Path, SourceDocument } from '../../plan/read/document.ts';
import {
  type ComparedValue,
  comparedValueAt,
  type Fact,
  membersFact,
  plainValue,
  wordFact,
} from '../facts.ts';
import type { OperationFile, PolicyFile, VersionFile } from '../policy-file.ts';
import type { Words } from '../section.ts';

export const accessWords: Words = {
  ofApi: { access: ({ access }, document) => accessFacts(access, document, ['access']) },
  ofVersion: { access: ({ access }, document, at) => accessFacts(access, document, [...at, 'access']) },
  ofOperation: { access: operationAccessFacts },
  defaults: { ofApi: { shared: false } },
};

type Access = PolicyFile['access'] | VersionFile['access'];

/** No facts for a version that inherits everything. */
function accessFacts(access: Access, document: SourceDocument, at: Path): readonly Fact[] {
  if (access === undefined) return [];
  if (access === 'public') return wordFact('access', 'public');
  const { identity, anonymous, scopes } = access;
  const facts = (['read', 'write'] as const).flatMap((use) => scopeFacts(`scope to ${use}`, scopes[use]));
  const by = identity === undefined ? [] : wordFact('access', identityWord(document, at, identity));
  return [...by, ...wordFact('anonymous', anonymous ? 'true' : undefined), ...facts];
}

function operationAccessFacts({ access }: OperationFile): readonly Fact[] {
  return [
    ...wordFact('access', access === 'public' ? access : undefined),
    ...(typeof access === 'object' ? scopeFacts('scope', access.scopes) : [membersFact('scope', [])]),
  ];
}

function identityWord(
  document: SourceDocument,
  at: Path,
  identity: string | readonly string[],
): ComparedValue {
  const { same, shown } = comparedValueAt(document, [...at, 'identity'], identity);
  return { same: `by ${same}`, shown: `by ${shown}` };
}

/** Missing scopes give no fact. */
function scopeFacts(what: string, scopes: readonly string[] | undefined): readonly Fact[] {
  const isAny = scopes !== undefined && scopes.length === 0;
  return [membersFact(what, (isAny ? ['any'] : (scopes ?? [])).map(plainValue))];
}
