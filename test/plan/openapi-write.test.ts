// Tests the edits of `sundial openapi` to YAML and JSON: what changes, and which bytes stay.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzz } from '../support/fuzz.ts';
import { liveOf, noDates, PLAIN, written } from './written-descriptions.ts';

describe('the lifecycle', () => {
  it('is written in info and in every operation of a deprecated version, and nothing else changes', () => {
    expect(written(PLAIN)).toBe(`# head
openapi: 3.0.3
info:
  title: 'Orders'   # the title

  version: "1.0"
  x-lifecycle:
    stage: deprecated
    deprecation:
      announced: "2026-01-15"
      sunset: "2027-04-15"
    migration-guide: "https://docs.example.com/orders/v2"
# before the paths
paths:
  /orders:
    get:
      tags:
        - a
        - b   # last tag
      # why there is a description
      description: |
        Lists them.
      deprecated: true
      x-lifecycle:
        status: deprecated

      parameters: []
      responses: {"200": {description: ok}}
    post: {summary: take, deprecated: true, x-lifecycle: { status: deprecated }, responses: {}}
`);
  });

  it('is written the same way in JSON, with its indentation', () => {
    const json = `{
\t"openapi": "3.2.0",
\t"info": {
\t\t"title": "Orders"
\t},
\t"paths": {
\t\t"/orders": { "get": {}, "put": { "operationId": "p", "responses": {} } }
\t}
}
`;
    expect(written(json)).toBe(`{
\t"openapi": "3.2.0",
\t"info": {
\t\t"title": "Orders",
\t\t"x-lifecycle": {
\t\t\t"stage": "deprecated",
\t\t\t"deprecation": {
\t\t\t\t"announced": "2026-01-15",
\t\t\t\t"sunset": "2027-04-15"
\t\t\t},
\t\t\t"migration-guide": "https://docs.example.com/orders/v2"
\t\t}
\t},
\t"paths": {
\t\t"/orders": { "get": { "deprecated": true, "x-lifecycle": { "status": "deprecated" } }, "put": { "operationId": "p", "deprecated": true, "x-lifecycle": { "status": "deprecated" }, "responses": {} } }
\t}
}
`);
    const compact = JSON.stringify(JSON.parse(json));
    expect(written(compact)).toBe(JSON.stringify(JSON.parse(written(compact))));
  });

  it.each([
    ['plain', '2027-01-15', '2027-04-15'],
    ['in double quotes', '"2027-01-15"', '"2027-04-15"'],
    ['in single quotes', "'2027-01-15'", "'2027-04-15'"],
    ['null', 'null', '"2027-04-15"'],
    ['missing', '', '"2027-04-15"'],
    ['over several lines', '>-\n        2027-01-15', '"2027-04-15"'],
  ])('with a date that is %s keeps its quotes and its comment', (_, before, after) => {
    const text = (date: string, comment: string) => `openapi: 3.1.0
info:
  title: a
  x-lifecycle:
    stage: deprecated
    migration-guide: https://docs.example.com/orders/v2
    deprecation:
      announced: 2026-01-15
      sunset:${date === '' ? '' : ' '}${date}${comment}
paths: {}
`;
    const comment = before.includes('\n') ? '' : ' # the end';
    expect(written(text(before, comment))).toBe(text(after, comment));
  });

  it('is written with the line ends of the file', () => {
    const text = written(PLAIN.replaceAll('\n', '\r\n'));
    expect(text).toBe(written(PLAIN).replaceAll('\n', '\r\n'));
  });

  it('ends without a line end if the file did', () => {
    const text = 'openapi: 3.0.0\npaths: {}\ninfo:\n  title: a';
    expect(written(text)).toMatch(/title: a\n {2}x-lifecycle:\n(.*\n)+.*orders\/v2"$/);
  });

  it('is written at the root if x-lifecycle is there', () => {
    const text = 'openapi: 3.0.0\nx-lifecycle: { stage: beta }\ninfo: { title: a }\npaths: {}\n';
    expect(written(text, { version: noDates, stage: 'active' })).toBe(text);
    expect(written(text)).toContain('x-lifecycle: { stage: deprecated, deprecation: {');
  });
});

describe('any description', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  const text = fc.oneof(word, fc.constantFrom('a: b', '# no comment', "it's", '"', 'é', '{x}', '- y', ' '));
  const lifecycle = fc.record(
    {
      status: fc.constantFrom('stable', 'deprecated'),
      introduced: fc.constant('2024-06-01'),
      'deprecation-date': fc.constantFrom('2026-01-15', '2025-01-01'),
      'breaking-changes': fc.array(text, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  );
  const operationOf = fc.record(
    {
      summary: text,
      description: fc.constant('two\nlines\n'),
      tags: fc.array(word, { maxLength: 2 }),
      deprecated: fc.boolean(),
      'x-lifecycle': lifecycle,
      responses: fc.constant({ '200': { description: 'ok' } }),
    },
    { requiredKeys: [] },
  );
  const item = fc.record({ get: operationOf, post: operationOf }, { requiredKeys: [] });
  const path = fc.constantFrom('/orders', '/orders/{id}', '/orders/search', '/orders/{id}/parts', '/else');
  const document = fc.record({
    openapi: fc.constantFrom('3.0.4', '3.1.1', '3.2.0'),
    info: fc.record(
      { title: text, version: word, 'x-lifecycle': fc.record({ stage: word }) },
      { requiredKeys: ['title'] },
    ),
    paths: fc.dictionary(path, item, { maxKeys: 4 }),
  });
  /** YAML text not made by a library: random flow maps, comments anywhere. */
  const yamlOf = (value: unknown, indent = ''): string => {
    if (typeof value !== 'object' || value === null) return ` ${JSON.stringify(value)} # c\n`;
    const entries = Object.entries(value);
    if (entries.length === 0 || Array.isArray(value) || indent.length > 8)
      return ` ${JSON.stringify(value)}\n`;
    const lines = entries.map(
      ([key, each]) => `${indent}# about\n${indent}${JSON.stringify(key)}:${yamlOf(each, `${indent}  `)}`,
    );
    return `${indent === '' ? '' : '\n'}${lines.join('\n')}`;
  };

  it('keeps all but the lifecycle, keeps every comment, and is stable after one edit', async () => {
    const strip = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(strip);
      const kept = Object.entries(value).filter(([key]) => key !== 'deprecated' && key !== 'x-lifecycle');
      return Object.fromEntries(kept.map(([key, each]) => [key, strip(each)]));
    };
    const render = fc.constantFrom(
      (value: unknown) => JSON.stringify(value),
      (value: unknown) => JSON.stringify(value, undefined, 2),
      (value: unknown) => yamlOf(value),
    );
    await fuzz(
      fc.property(document, render, (value, toText) => {
        const before = toText(value);
        const after = written(before);
        expect(written(after)).toBe(after);
        expect(after.match(/# (about|c)$/gm)).toEqual(before.match(/# (about|c)$/gm));
        const said = liveOf(after, {}).description;
        expect(said.problems).toEqual([]);
        expect(said.api.sunset?.value).toBe('2027-04-15');
        for (const each of said.operations.filter(({ path: at }) => at !== '/else'))
          expect([each.flag?.value, each.status?.value]).toEqual([true, 'deprecated']);
        if (before.startsWith('{')) expect(strip(JSON.parse(after))).toEqual(strip(JSON.parse(before)));
      }),
      100,
    );
  });
});
