// The words of the grammars: what may be shown of a file whatever it holds.
// read/concealed.ts and read/shape.ts tell files of ours from others by them.
import { schemaOf } from './editor-schemas.ts';
import { gatewayGrammar } from './gateway-grammar.ts';
import { policyGrammar, policyPartsGrammar } from './policy-grammar.ts';

/** Keys at the top of a policy or gateway file. */
export const TOP_KEYS: ReadonlySet<string> = new Set(
  [policyPartsGrammar, gatewayGrammar].flatMap(({ shape }) => Object.keys(shape)),
);

let words: ReadonlySet<string> | undefined;

/** Every key that either grammar names, and every word of a choice. Takes tens of milliseconds the first time. */
export function grammarWords(): ReadonlySet<string> {
  words ??= new Set([policyGrammar, gatewayGrammar].flatMap((grammar) => wordsOf(schemaOf(grammar))));
  return words;
}

function wordsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    if (key === 'const') return typeof value === 'string' ? [value] : [];
    if (key === 'enum' && Array.isArray(value)) return value.filter((each) => typeof each === 'string');
    const names = key === 'properties' ? Object.keys(value ?? {}) : [];
    return [...names, ...wordsOf(value)];
  });
}
