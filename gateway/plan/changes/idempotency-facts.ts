// Idempotency keys of an API, a version or an operation as facts: who may have them, and whatever is not as usual.
// Written and inherited keys alike are compared where they are written.
import { defaultIdempotency, type WrittenIdempotency } from '../../policy/idempotency/section.ts';
import { type Fact, plainWord, wordFact } from './facts.ts';
import { spanInWords } from './spans.ts';

/** `usual`: what need not be said, since it holds anyway. */
function factsWithout(written: WrittenIdempotency, usual: WrittenIdempotency): readonly Fact[] {
  const other = <K extends keyof WrittenIdempotency>(key: K, spell: (value: unknown) => string) => {
    const value = written[key];
    return value === undefined || value === usual[key]
      ? []
      : wordFact(`idempotency ${key}`, plainWord(spell(value)));
  };
  const bytes = (value: unknown) => `${value} bytes`;
  return [
    ...wordFact(
      'idempotency',
      plainWord((written.methods ?? usual.methods ?? []).toSorted().join(', ') || 'on'),
    ),
    ...other('required', String),
    ...other('keep', (value) => spanInWords(0, Number(value))),
    ...other('unknown', String),
    ...other('server_errors', String),
    ...other('anonymous', String),
    ...other('max_body', bytes),
    ...other('max_answer', bytes),
  ];
}

/** Of an API as a whole, where a default that is written out is no change. */
export function wholeIdempotencyFacts(written: WrittenIdempotency | undefined): readonly Fact[] {
  return written === undefined ? [] : factsWithout(written, defaultIdempotency);
}

export function idempotencyFacts(written: WrittenIdempotency | 'off' | undefined): readonly Fact[] {
  if (written === 'off') return wordFact('idempotency', plainWord('off'));
  return written === undefined ? [] : factsWithout(written, {});
}
