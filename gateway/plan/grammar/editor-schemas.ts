// Converts the grammars to JSON Schema for editors.
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
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
      text: textOf(gatewayGrammar, GLOSSARY['gateway file']),
    },
    {
      file: 'policy.schema.json',
      text: textOf(policyGrammar, GLOSSARY['policy file']),
    },
  ];
}

function textOf(grammar: z.ZodType, description: string): string {
  return `${JSON.stringify(schemaOf(grammar.meta({ description })), undefined, 2)}\n`;
}

/** The JSON Schema of the input. Also used for the effective configuration. */
export function schemaOf(grammar: z.ZodType): z.core.JSONSchema.JSONSchema {
  return z.toJSONSchema(grammar, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // Keys that start with `x-` are allowed at every level.
      if (jsonSchema.additionalProperties === false) jsonSchema.patternProperties = { '^x-': {} };
    },
  });
}

export const TOP_KEYS: ReadonlySet<string> = new Set(
  [policyPartsGrammar, gatewayGrammar].flatMap(({ shape }) => Object.keys(shape)),
);

let words: ReadonlySet<string> | undefined;

/** Every key and enum value of both grammars. The first call takes tens of milliseconds. */
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
