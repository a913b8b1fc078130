// How a diff shows `resolve`: each carrier, and the version of requests that name none.
import type { SourceDocument } from '../../plan/read/document.ts';
import type { MediaTemplate } from '../../policy/versioning/resolution.ts';
import { type Fact, membersFact, type Word, wordFact, writtenWord } from '../facts.ts';
import type { PolicyFile } from '../policy-file.ts';
import type { Words } from '../section.ts';

export const resolveWords: Words = {
  ofApi: { resolve: resolveFacts },
  defaults: { ofApi: { rewrite_content_type: false } },
};

/** The account is who calls; any day of its creation means the newest version up to it. */
const PIN_DEFAULTS = { by: 'consumer', match: 'floor' };

/** The order of carriers says nothing: all are read, and the default is asked last wherever it stands. */
function resolveFacts({ resolve = [] }: PolicyFile, document: SourceDocument): readonly Fact[] {
  const carriers: Word[] = [];
  const ignored: Word[] = [];
  const facts: Fact[] = [];
  for (const [index, entry] of resolve.entries()) {
    const { default: label, match, ignore = [], ...rest } = entry;
    facts.push(...wordFact('default', label), ...wordFact('match', match === 'exact' ? undefined : match));
    ignored.push(...ignore.map((name, at) => writtenWord(document, ['resolve', index, 'ignore', at], name)));
    for (const [kind, value] of Object.entries(rest)) {
      if (value === undefined) continue;
      const text = spellCarrier(kind, value);
      const { same, shown } = writtenWord(document, ['resolve', index, kind], text);
      carriers.push({ same: `${kind} ${same}`, shown: `${kind.replace('_', ' ')} ${shown}` });
    }
  }
  return [membersFact('carrier', carriers), membersFact('ignored parameter', ignored), ...facts];
}

/** As written, with what a carrier means where it says nothing. */
function spellCarrier(kind: string, value: string | object): unknown {
  if (kind === 'pin') return { ...PIN_DEFAULTS, ...(value as object) };
  return kind === 'media_type' ? spellTemplate(value as MediaTemplate) : value;
}

function spellTemplate({ before, after, parameter }: MediaTemplate): string {
  return parameter === undefined ? `${before}{version}${after}` : `${before};${parameter}={version}`;
}
