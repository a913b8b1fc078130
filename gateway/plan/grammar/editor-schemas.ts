// The grammars as JSON Schema for editors, from the same source as the checks.
import { z } from 'zod';
import { policyGrammar, policyPartsGrammar } from '../../sections/policy-file.ts';
import { gatewayGrammar } from './gateway-grammar.ts';

export interface EditorSchema {
  readonly file: string;
  readonly text: string;
}

export function editorSchemas(): readonly EditorSchema[] {
  return [
    {
      file: 'gateway.schema.json',
      text: textOf(gatewayGrammar, 'How the gateway runs; a change needs a restart.'),
    },
    {
      file: 'policy.schema.json',
      text: textOf(policyGrammar, 'Versions, dates and limits of one API; read again when it changes.'),
    },
  ];
}

function textOf(grammar: z.ZodType, description: string): string {
  return `${JSON.stringify(schemaOf(grammar.meta({ description })), undefined, 2)}\n`;
}

/** What may be written, as JSON Schema; what editors and the effective configuration go by. */
export function schemaOf(grammar: z.ZodType): z.core.JSONSchema.JSONSchema {
  return z.toJSONSchema(grammar, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // Keys that start with x- are the operator's own, at every level.
      if (jsonSchema.additionalProperties === false) jsonSchema.patternProperties = { '^x-': {} };
    },
  });
}

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
