// Checks a sample's responses against its OpenAPI description, and that every described status was seen.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
// One for all files: it caches compiled schemas.
const VALIDATOR = new Validator();

interface Answer {
  readonly headers?: Record<string, { readonly $ref: string }>;
  readonly content?: Record<string, { readonly schema: object }>;
}
interface Description {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, { $ref: string }> }>>;
  readonly components: { readonly headers: Record<string, { required?: boolean; schema: object }> } & Record<
    string,
    Record<string, unknown>
  >;
}

export interface Described {
  readonly description: Description;
  readonly isOpenApi: () => Promise<void>;
  /** Fails if the status is not `expected` or the response differs from its description. Reads the body. */
  readonly judge: (template: string, method: string, expected: number, answer: Response) => Promise<void>;
  /** Fails if a described status was not seen. `others`: statuses that this service does not send itself. */
  readonly sawAll: (others: (operation: string) => readonly string[]) => void;
}

/** `file` is relative to the project. */
export function describedBy(file: string): Described {
  const description = parse(readFileSync(join(ROOT, file), 'utf8')) as Description;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(description, 'description');
  const seen = new Map<string, Set<string>>();

  const follow = <T>($ref: string): T => {
    let found: unknown = description;
    for (const step of $ref.slice('#/'.length).split('/')) found = Reflect.get(Object(found), step);
    return found as T;
  };

  return {
    description,
    isOpenApi: async () =>
      expect(await VALIDATOR.validate(structuredClone({ ...description }))).toMatchObject({ valid: true }),
    judge: async (template, method, expected, answer) => {
      const what = `${method} ${template}`;
      expect(answer.status, what).toBe(expected);
      const described = description.paths[template]?.[method]?.responses[String(expected)];
      expect(described, `${what} ${expected}`).toBeDefined();
      const { headers = {}, content } = follow<Answer>(described?.$ref ?? '');
      for (const [name, { $ref }] of Object.entries(headers)) {
        const { required = false, schema } = follow<{ required?: boolean; schema: object }>($ref);
        const value = answer.headers.get(name);
        if (required || value !== null)
          expect(
            ajv.validate(schema, name === 'Retry-After' ? Number(value) : value),
            `${what} ${name}: ${value}`,
          ).toBe(true);
      }
      const body = await answer.text();
      if (content === undefined) expect(body).toBe('');
      else {
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
        const schema = {
          $ref: `description${Reflect.get(content['application/json']?.schema ?? {}, '$ref')}`,
        };
        ajv.validate(schema, JSON.parse(body));
        expect(ajv.errors ?? [], `${what} ${expected}: ${body}`).toEqual([]);
      }
      seen.set(what, (seen.get(what) ?? new Set()).add(String(expected)));
    },
    sawAll: (others) => {
      for (const [template, methods] of Object.entries(description.paths)) {
        for (const [method, { responses }] of Object.entries(methods)) {
          if (method === 'parameters') continue;
          const what = `${method} ${template}`;
          const promised = Object.keys(responses).filter((status) => !others(what).includes(status));
          expect([...(seen.get(what) ?? [])].sort(), what).toEqual(promised.sort());
        }
      }
    },
  };
}
