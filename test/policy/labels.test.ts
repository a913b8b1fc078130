// Labels and requested forms: the grammar of VER-1 and the order of versions.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareLabels, parseLabel, parseRequested } from '../../gateway/policy/versioning/label.ts';

const label = fc.oneof(
  fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date('2099-12-31') })
    .map((day) => day.toISOString().slice(0, 10)),
  fc.integer({ min: 0, max: 9999 }).map((major) => `v${major}`),
  fc.tuple(...[0, 0, 0].map(() => fc.integer({ min: 0, max: 20 }))).map((parts) => `v${parts.join('.')}`),
);

describe('declared labels', () => {
  it.each([
    ['v0', { major: 0 }],
    ['v1', { major: 1 }],
    ['v9999', { major: 9999 }],
    ['v1.20.0', { major: 1, minor: 20, patch: 0 }],
  ])('VER-1: %s is a label', (text, parts) => {
    expect(parseLabel(text)).toEqual({ kind: 'number', minor: undefined, patch: undefined, ...parts });
  });

  it.each(['2026-01-15', '2024-02-29'])('VER-1: the day %s is a label', (date) => {
    expect(parseLabel(date)).toEqual({ kind: 'date', date });
  });

  it.each([
    '2026-02-30',
    '2025-02-29',
    '2026-00-10',
    '2026-13-01',
    '2026-1-15',
    'v2026-01-15',
    '2026-01-15T00:00:00Z',
  ])('VER-1: %s is not a date label', (text) => {
    expect(parseLabel(text)).toBeUndefined();
    expect(parseRequested(text)).toBeUndefined();
  });

  it.each([
    '1',
    '1.2.3',
    'V1',
    'v01',
    'v1.',
    'v1.2',
    'v1.02.3',
    'v10000',
    'v-1',
    'v+1',
    'v1e0',
    'v１',
    ' v1',
    'v1\n',
    'none',
    '',
  ])('VER-1: %j is not a label', (text) => {
    expect(parseLabel(text)).toBeUndefined();
  });

  it('are ordered as numbers: v10 is newer than v9', () => {
    const shuffled = [
      '2026-01-15',
      'v10',
      'v2.0.0',
      '2025-06-01',
      'v9',
      'v1.10.0',
      'none',
      'v1.9.3',
      'v2',
      'v1',
    ];
    expect(shuffled.toSorted(compareLabels)).toEqual([
      'none',
      'v1',
      'v1.9.3',
      'v1.10.0',
      'v2',
      'v2.0.0',
      'v9',
      'v10',
      '2025-06-01',
      '2026-01-15',
    ]);
  });

  it('have a total order: antisymmetric, transitive, and equal only to themselves', () => {
    fc.assert(
      fc.property(label, label, label, (a, b, c) => {
        expect(Math.sign(compareLabels(a, b)) + Math.sign(compareLabels(b, a))).toBe(0);
        expect(compareLabels(a, b) === 0).toBe(a === b);
        if (compareLabels(a, b) <= 0 && compareLabels(b, c) <= 0)
          expect(compareLabels(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('requested forms', () => {
  it.each([
    ['1', { prefixed: false, major: 1 }],
    ['v1', { prefixed: true, major: 1 }],
    ['1.2.0', { prefixed: false, major: 1, minor: 2, patch: 0 }],
    ['v1.2.0', { prefixed: true, major: 1, minor: 2, patch: 0 }],
  ])('VER-1: %s is accepted', (text, parts) => {
    expect(parseRequested(text)).toEqual({ kind: 'number', minor: undefined, patch: undefined, ...parts });
  });

  it('VER-1: only the grammar is accepted, whatever Number() accepts', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.double().map(String), fc.stringMatching(/^v?[0-9.]{0,8}$/)),
        (text) => {
          const grammar = /^v?(0|[1-9]\d{0,3})(\.(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3}))?$/;
          expect(parseRequested(text) !== undefined).toBe(grammar.test(text) && !text.endsWith('\n'));
        },
      ),
    );
  });
});
