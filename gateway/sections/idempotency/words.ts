// How a diff shows `idempotency`: the methods, and each other key that is not as usual.
import { spanInWords } from '../../policy/spans.ts';
import { type Fact, wordFact } from '../facts.ts';
import type { OperationFile, VersionFile } from '../policy-file.ts';
import type { Words } from '../section.ts';
import { defaultIdempotency, type WrittenIdempotency } from './grammar.ts';

export const idempotencyWords: Words = {
  ofApi: {
    // A default that is written out is no change.
    idempotency: ({ idempotency: written }) =>
      written === undefined ? [] : factsWithout(written, defaultIdempotency),
  },
  ofVersion: { idempotency: ownFacts },
  ofOperation: { idempotency: ownFacts },
};

function ownFacts({ idempotency: written }: VersionFile | OperationFile): readonly Fact[] {
  if (written === 'off') return wordFact('idempotency', 'off');
  return written === undefined ? [] : factsWithout(written, {});
}

/** `usual`: what need not be said, since it holds anyway. */
function factsWithout(written: WrittenIdempotency, usual: WrittenIdempotency): readonly Fact[] {
  const other = <K extends keyof WrittenIdempotency>(key: K, spell: (value: unknown) => string) => {
    const value = written[key];
    return value === undefined || value === usual[key] ? [] : wordFact(`idempotency ${key}`, spell(value));
  };
  const { methods = usual.methods ?? [] } = written;
  const bytes = (value: unknown) => `${value} bytes`;
  return [
    ...wordFact('idempotency', methods.toSorted().join(', ') || 'on'),
    ...other('required', String),
    ...other('keep', (value) => spanInWords(0, Number(value))),
    ...other('unknown', String),
    ...other('server_errors', String),
    ...other('anonymous', String),
    ...other('max_body', bytes),
    ...other('max_answer', bytes),
  ];
}
