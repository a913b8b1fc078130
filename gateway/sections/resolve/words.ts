// The diff of `resolve`: each carrier and the default.
import type { SourceDocument } from '../../plan/read/document.ts';
import type { MediaTemplate } from '../../policy/versioning/resolution.ts';
import { type ComparedValue, comparedValueAt, type Fact, membersFact, wordFact } from '../facts.ts';
import type { PolicyFile } from '../policy-file.ts';
import type { Words } from '../section.ts';

export const resolveWords: Words = {
  ofApi: { resolve: resolveFacts },
  defaults: { ofApi: { rewrite_content_type: false } },
};

const PIN_DEFAULTS = { by: 'consumer', match: 'floor' };

/** The order of carriers makes no difference: all are read, and the default applies last. */
function resolveFacts({ resolve = [] }: PolicyFile, document: SourceDocument): readonly Fact[] {
  const carriers: ComparedValue[] = [];
  const ignored: ComparedValue[] = [];
  const facts: Fact[] = [];
  for (const [index, entry] of resolve.entries()) {
    const { default: label, match, ignore = [], ...rest } = entry;
    facts.push(...wordFact('default', label), ...wordFact('match', match === 'exact' ? undefined : match));
    ignored.push(
      ...ignore.map((name, at) => comparedValueAt(document, ['resolve', index, 'ignore', at], name)),
    );
    for (const [kind, value] of Object.entries(rest)) {
      if (value === undefined) continue;
      const text = formatCarrier(kind, value);
      const { same, shown } = comparedValueAt(document, ['resolve', index, kind], text);
      carriers.push({ same: `${kind} ${same}`, shown: `${kind.replace('_', ' ')} ${shown}` });
    }
  }
  return [membersFact('carrier', carriers), membersFact('ignored parameter', ignored), ...facts];
}

/** As written, with defaults filled in. */
function formatCarrier(kind: string, value: string | object): unknown {
  if (kind === 'pin') return { ...PIN_DEFAULTS, ...(value as object) };
  return kind === 'media_type' ? formatTemplate(value as MediaTemplate) : value;
}

function formatTemplate({ before, after, parameter }: MediaTemplate): string {
  return parameter === undefined ? `${before}{version}${after}` : `${before};${parameter}={version}`;
}
