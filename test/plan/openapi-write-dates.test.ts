// Tests the dates that `sundial openapi` writes, and descriptions that it cannot write.
import { describe, expect, it } from 'vitest';
import { writeLifecycle } from '../../gateway/plan/openapi/write.ts';
import { parseOperationSuccessor } from '../../gateway/policy/lifecycle/operation-template.ts';
import type { Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import type { OperationFile, VersionFile } from '../../gateway/sections/policy-file.ts';
import { day, liveOf, noDates, operation, written } from './written-descriptions.ts';

describe('dates in force', () => {
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
  ])('an operation gets its state as of %s', (now, expected) => {
    expect(written(paths('summary: s'), { version: dated, stage: 'active', now })).toBe(paths(expected));
  });

  it('a date that the policy no longer has is removed: OAS-1 on both sides', () => {
    const marked = paths(
      'deprecated: true, x-lifecycle: { status: deprecated, deprecation-date: "2026-06-01", sunset-date: "2027-06-15" }',
    );
    const unmarked = paths(
      'deprecated: false, x-lifecycle: { status: stable, deprecation-date: "2026-06-01", sunset-date: "2027-06-15" }',
    );
    expect(written(marked, { version: dated, stage: 'active', now: '2026-05-01' })).toBe(unmarked);
  });

  it('a day of the version that the policy switched off is removed', () => {
    const text = paths('').replace(
      'stage: stable',
      'stage: stable, deprecation: { announced: "2026-01-15", sunset: 2027-01-15 }',
    );
    const expected = text.replace('"2026-01-15"', 'null').replace('2027-01-15', 'null');
    expect(written(text, { version: noDates, stage: 'active' })).toBe(expected);
    expect(written(expected, { version: noDates, stage: 'active' })).toBe(expected);
  });

  it('a guide that the policy switched off is removed, if its URL was usable', () => {
    const text = (guide: string) =>
      paths('').replace('stage: stable', `stage: stable, migration-guide: ${guide}`);
    expect(written(text('https://a.example/g'), { version: noDates, stage: 'active' })).toBe(text('null'));
    expect(written(text('./guide.md'), { version: noDates, stage: 'active' })).toBe(text('./guide.md'));
  });

  it('an operation that is marked without a date stays marked', () => {
    const text = paths('deprecated: true');
    expect(written(text, { version: noDates, stage: 'active' })).toBe(text);
  });

  it('an operation keeps a date of the version that it already has, updated', () => {
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

  it('a replacement with the same meaning stays as it is', () => {
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
  ])('in the stage %s, %s becomes %s', (stage, before, after) => {
    const text = (word: string) =>
      `openapi: 3.0.0\ninfo: { title: a, x-lifecycle: { stage: ${word} } }\npaths: {}\n`;
    expect(written(text(before), { version: noDates, stage })).toBe(text(after));
  });
});

describe('a description that cannot be written without other changes', () => {
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
    ['x-lifecycle that is a text', 'openapi: 3.0.0\ninfo: { title: a, x-lifecycle: stable }\npaths: {}\n'],
  ])('%s', (_, text) => {
    const operations = { 'GET /search': operation({ deprecated: day('2026-06-01') }) };
    expect(writeLifecycle(liveOf(text, { version: { ...noDates, operations }, stage: 'active' }))).toEqual({
      kind: 'shared-anchor',
    });
  });

  it('is written if the anchor means the same everywhere', () => {
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
