// The diff of `idempotency`: the methods, and every other key with an unusual value.
import { spanInWords } from '../../policy/spans.ts';
import { type Fact, wordFact } from '../facts.ts';
import type { OperationFile, VersionFile } from '../policy-file.ts';
import type { Words } from '../section.ts';
import { defaultIdempotency, type WrittenIdempotency } from './grammar.ts';

export const idempotencyWords: Words = {
  ofApi: {
    // Writing a default is no difference.
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

/** `usual`: the values that need no fact. */
function factsWithout(written: WrittenIdempotency, usual: WrittenIdempotency): readonly Fact[] {
  const other = <K extends keyof WrittenIdempotency>(key: K, format: (value: unknown) => string) => {
    const value = written[key];
    return value === undefined || value === usual[key] ? [] : wordFact(`idempotency ${key}`, format(value));
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
