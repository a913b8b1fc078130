// `sundial openapi` on texts: what is written, what stays byte for byte, and that a second run has nothing to write.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OperationFile, VersionFile } from '../../gateway/plan/grammar/policy-grammar.ts';
import { readDescription } from '../../gateway/plan/openapi/description.ts';
import { type Live, operationRules } from '../../gateway/plan/openapi/live.ts';
import { placeDescription } from '../../gateway/plan/openapi/placement.ts';
import { writeLifecycle } from '../../gateway/plan/openapi/write.ts';
import { parseOperationSuccessor } from '../../gateway/policy/lifecycle/operation-template.ts';
import type { Stage } from '../../gateway/policy/lifecycle/schedule.ts';

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

const VERSION: VersionFile = {
  released: day('2024-06-01'),
  deprecated: day('2026-01-15'),
  sunset: day('2027-01-15'),
  extended: [{ to: day('2027-04-15'), announced: day('2026-10-10') }],
  guide: 'https://docs.example.com/orders/v2',
};

interface Situation {
  readonly version?: VersionFile;
  readonly stage?: Stage;
  readonly now?: string;
}

function liveOf(
  text: string,
  { version = VERSION, stage = 'deprecated', now = '2026-11-20' }: Situation,
): Live {
  const description = readDescription('orders.yaml', new TextEncoder().encode(text));
  const premises = {
    label: 'v1',
    base: '/api/orders',
    versionedPath: '/api/{version}/orders',
    upstreamPath: '/orders',
  };
  return {
    description,
    placement: placeDescription(description, premises),
    label: 'v1',
    labels: ['v1', 'v2'],
    versionedPath: premises.versionedPath,
    version,
    rules: operationRules(version),
    stage,
    now: day(now),
  };
}

function written(text: string, situation: Situation = {}): string {
  const result = writeLifecycle(liveOf(text, situation));
  if (result.kind !== 'text') throw new Error(result.kind);
  return result.text;
}

const operation = (fields: Partial<OperationFile>): OperationFile => fields;
const noDates: VersionFile = { released: day('2024-06-01') };

const PLAIN = `# head
openapi: 3.0.3
info:
  title: 'Orders'   # the title

  version: "1.0"
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

      parameters: []
      responses: {"200": {description: ok}}
    post: {summary: take, responses: {}}
`;

describe('what is written', () => {
  it('stands in info and in every operation of a deprecated version, and nothing else has moved', () => {
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

  it('is in JSON what it is in YAML, with the indentation that is there', () => {
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
    ['nothing', '', '"2027-04-15"'],
    ['over several lines', '>-\n        2027-01-15', '"2027-04-15"'],
  ])('a date that is %s keeps its quotes and its comment', (_, before, after) => {
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

  it('has the line ends of the file', () => {
    const text = written(PLAIN.replaceAll('\n', '\r\n'));
    expect(text).toBe(written(PLAIN).replaceAll('\n', '\r\n'));
  });

  it('ends where the file ended without a line end', () => {
    const text = 'openapi: 3.0.0\npaths: {}\ninfo:\n  title: a';
    expect(written(text)).toMatch(/title: a\n {2}x-lifecycle:\n(.*\n)+.*orders\/v2"$/);
  });

  it('goes to the root where x-lifecycle stands there', () => {
    const text = 'openapi: 3.0.0\nx-lifecycle: { stage: beta }\ninfo: { title: a }\npaths: {}\n';
    expect(written(text, { version: noDates, stage: 'active' })).toBe(text);
    expect(written(text)).toContain('x-lifecycle: { stage: deprecated, deprecation: {');
  });
});

describe('live dates', () => {
  const paths = (fields: string) => `openapi: 3.1.0
info: { title: a, x-lifecycle: { stage: stable } }
paths:
  /orders/search:
    get: { ${fields} }
  /orders: { get: { responses: {} } }
`;
  const search = (own: OperationFile): VersionFile => ({ ...noDates, operations: { 'GET /search': own } });
  const dated = search(operation({ deprecated: day('2026-06-01'), sunset: day('2027-06-15') }));

  it.each([
    [
      '2026-05-31',
      'summary: s, x-lifecycle: { status: stable, deprecation-date: "2026-06-01", sunset-date: "2027-06-15" }',
    ],
    [
      '2026-06-01',
      'summary: s, deprecated: true, x-lifecycle: { status: deprecated, deprecation-date: "2026-06-01", sunset-date: "2027-06-15" }',
    ],
    [
      '2027-06-15',
      'summary: s, deprecated: true, x-lifecycle: { status: deprecated, deprecation-date: "2026-06-01", sunset-date: "2027-06-15" }',
    ],
  ])('an operation is what it is on the day: %s', (now, expected) => {
    expect(written(paths('summary: s'), { version: dated, stage: 'active', now })).toBe(paths(expected));
  });

  it('what is taken back in the policy is taken back here: OAS-1 on both sides', () => {
    const marked = paths(
      'deprecated: true, x-lifecycle: { status: deprecated, deprecation-date: "2026-06-01", sunset-date: "2027-06-15" }',
    );
    const unmarked = paths(
      'deprecated: false, x-lifecycle: { status: stable, deprecation-date: "2026-06-01", sunset-date: "2027-06-15" }',
    );
    expect(written(marked, { version: dated, stage: 'active', now: '2026-05-01' })).toBe(unmarked);
  });

  it('a day of the version that the policy has switched off is none', () => {
    const text = paths('').replace(
      'stage: stable',
      'stage: stable, deprecation: { announced: "2026-01-15", sunset: 2027-01-15 }',
    );
    const expected = text.replace('"2026-01-15"', 'null').replace('2027-01-15', 'null');
    expect(written(text, { version: noDates, stage: 'active' })).toBe(expected);
    expect(written(expected, { version: noDates, stage: 'active' })).toBe(expected);
  });

  it('and so is a guide, where its URL could have been taken over', () => {
    const text = (guide: string) =>
      paths('').replace('stage: stable', `stage: stable, migration-guide: ${guide}`);
    expect(written(text('https://a.example/g'), { version: noDates, stage: 'active' })).toBe(text('null'));
    expect(written(text('./guide.md'), { version: noDates, stage: 'active' })).toBe(text('./guide.md'));
  });

  it('what somebody marked without a date stays marked', () => {
    const text = paths('deprecated: true');
    expect(written(text, { version: noDates, stage: 'active' })).toBe(text);
  });

  it('dates of the version stand at an operation only where they stood before, and are brought up to date', () => {
    const text = paths('deprecated: true, x-lifecycle: { status: deprecated, sunset-date: "2027-01-15" }');
    expect(written(text)).toContain('x-lifecycle: { status: deprecated, sunset-date: "2027-04-15" } }');
    expect(written(text).match(/2027-04-15/g)).toHaveLength(2);
  });

  it.each([
    ['GET /', '/orders'],
    ['v2 GET /find', '/api/v2/orders/find'],
    ['v2', '/api/v2/orders/search'],
  ])('the successor %s is the replacement %s', (successor, path) => {
    const own = operation({ deprecated: day('2026-06-01'), successor: parseOperationSuccessor(successor) });
    const text = written(paths('summary: s'), { version: search(own), stage: 'active' });
    expect(text).toContain(`replacement: "${path}"`);
  });

  it('a replacement that says the same in other words stays', () => {
    const own = operation({ deprecated: day('2026-06-01'), successor: parseOperationSuccessor('GET /') });
    const text = paths(
      'deprecated: true, x-lifecycle: { status: deprecated, deprecation-date: "2026-06-01", replacement: /api/v1/orders }',
    );
    expect(written(text, { version: search(own), stage: 'active' })).toBe(text);
  });

  it.each<[Stage, string, string]>([
    ['planned', 'stable', 'planned'],
    ['active', 'beta', 'beta'],
    ['active', 'deprecated', 'stable'],
    ['deprecated', 'beta', 'deprecated'],
    ['sunset', 'deprecated', 'sunset'],
    ['retired', 'deprecated', 'retired'],
  ])('the stage %s makes of %s: %s', (stage, before, after) => {
    const text = (word: string) =>
      `openapi: 3.0.0\ninfo: { title: a, x-lifecycle: { stage: ${word} } }\npaths: {}\n`;
    expect(written(text(before), { version: noDates, stage })).toBe(text(after));
  });
});

describe('what cannot be written without changing more', () => {
  it.each([
    [
      'one anchor for two operations with different dates',
      `openapi: 3.0.0
info: { title: a }
paths:
  /orders: { get: &one { summary: s } }
  /orders/search: { get: *one }
`,
    ],
    ['x-lifecycle that is a word', 'openapi: 3.0.0\ninfo: { title: a, x-lifecycle: stable }\npaths: {}\n'],
  ])('%s', (_, text) => {
    const operations = { 'GET /search': operation({ deprecated: day('2026-06-01') }) };
    expect(writeLifecycle(liveOf(text, { version: { ...noDates, operations }, stage: 'active' }))).toEqual({
      kind: 'entangled',
    });
  });

  it('is written where one anchor says the same of all', () => {
    const text = `openapi: 3.0.0
info: { title: a }
paths:
  /orders: { get: &one { summary: s } }
  /orders/search: { get: *one }
`;
    expect(written(text)).toContain(
      'get: &one { summary: s, deprecated: true, x-lifecycle: { status: deprecated } }',
    );
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
  /** Lines of YAML that no library of ours wrote: flow maps by chance, comments anywhere. */
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

  it('says the same afterwards but for the lifecycle, keeps every line of comment, and is written once', () => {
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
    fc.assert(
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
      { numRuns: 300 },
    );
  });
});
