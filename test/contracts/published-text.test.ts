// The stored text of published files, in every format that a release wrote, and in invalid formats.
import { describe, expect, it } from 'vitest';
import type { FormerVersion, PublishedFile } from '../../gateway/plan/published/record.ts';
import { readPublished, writePublished } from '../../gateway/stores/published-text.ts';

const FILE: PublishedFile = { kind: 'policy', name: 'orders.yaml', text: 'api: orders\n' };
const FORMER: FormerVersion = {
  kind: 'former',
  api: 'orders',
  label: 'v1',
  places: ['api.example.com /api/orders'],
  left: 1,
  sunset: 2,
  operations: { 'GET /': 3 },
};

describe('the published files as a text', () => {
  it.each([
    ['an empty store', undefined, []],
    ['files on one line', JSON.stringify([FILE, FILE]), [FILE, FILE]],
    ['files, one per line', `[\n${JSON.stringify(FILE)},\n${JSON.stringify(FILE)}\n]`, [FILE, FILE]],
    ['no files', '[\n\n]', []],
    ['former versions', `[\n${JSON.stringify(FILE)},\n${JSON.stringify(FORMER)}\n]`, [FILE, FORMER]],
  ])('are read from %s', async (_form, stored, entries) => {
    expect(await readPublished(stored)).toEqual(entries);
    expect(await readPublished(await writePublished(entries))).toEqual(entries);
  });

  it.each<readonly [string, unknown]>([
    ['another kind', { ...FORMER, kind: 'ghost' }],
    ['no API', { ...FORMER, api: 7 }],
    ['no label', { ...FORMER, label: null }],
    ['invalid places', { ...FORMER, places: [7] }],
    ['an invalid instant', { ...FORMER, sunset: 9e15 }],
    ['no removal date', { ...FORMER, left: undefined }],
    ['invalid operations', { ...FORMER, operations: { 'GET /': 'soon' } }],
    ['the value null', null],
  ])('are refused if an entry has %s', async (_what, entry) => {
    await expect(readPublished(JSON.stringify([entry]))).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
