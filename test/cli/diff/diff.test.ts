// `sundial diff`: what counts as a change, and its text. The edits are in changes/.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ORDERS, workspace } from '../../plan/workspace.ts';
import { diff } from '../../support/file-commands.ts';
import { OF_APIS } from './changes/apis.ts';
import { OF_VERSIONS } from './changes/versions.ts';
import { WIDE } from './diffed-orders.ts';

/** The lines about changes, for `WIDE` after one edit. */
async function changed(from: string, to: string): Promise<readonly string[]> {
  const text = WIDE.replace(from, () => to);
  if (text === WIDE) throw new Error('the edit changes nothing');
  await using files = await workspace({ 'old.yaml': WIDE, 'new.yaml': text });
  const { text: said } = await diff(files);
  return said.split('\n').filter((line) => line.startsWith('orders'));
}

describe('the lines of a change', () => {
  it.each([...OF_VERSIONS, ...OF_APIS])('%s', async (_name, from, to, ...lines) => {
    expect(await changed(from, to)).toEqual(lines);
  });

  it('an added or removed API in a folder', async () => {
    const more = ORDERS.replace('api: orders', 'api: more').replaceAll('/orders', '/more');
    await using files = await workspace({ 'old/a.yaml': ORDERS, 'old/b.yaml': more, 'new/c.yaml': ORDERS });
    expect((await diff(files, { older: 'old', newer: 'new' })).text).toMatch(
      /^more: API \(v1, v2\) removed\n/,
    );
    expect((await diff(files, { older: 'new', newer: 'old' })).text).toBe('more: API (v1, v2) added\n');
  });

  it('the removed versions of an API that no longer has versions', async () => {
    const plain = ORDERS.replace(/^resolve:.*\n/m, '')
      .replace(/^ {2}v1: \{ targets.*\n/m, '')
      .replace(/^versions:[\s\S]*/m, 'versions: none\n');
    await using files = await workspace({ 'old.yaml': ORDERS, 'new.yaml': plain });
    const { text } = await diff(files);
    expect(text).toContain(
      'orders v1: version (released 2024-06-01, deprecated 2026-01-15, sunset 2027-01-15) removed',
    );
    expect(text).not.toContain('window');
  });

  it('JSON with changes and problems', async () => {
    await using files = await workspace({
      'old.yaml': ORDERS,
      'new.yaml': ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-04-15'),
    });
    expect(JSON.parse((await diff(files, { format: 'json' })).text)).toEqual({
      changes: [
        {
          api: 'orders',
          subject: 'v1',
          what: 'sunset',
          from: '2027-01-15',
          to: '2027-04-15',
          by: '+3 months',
        },
      ],
      problems: [
        expect.objectContaining({
          file: 'new.yaml',
          line: 9,
          rule: 'dates-rewritten',
          severity: 'warning',
          hint: 'keep 2027-01-15 and write the new date under extended',
        }),
      ],
    });
  });
});

describe('no change', () => {
  const same = async (older: string, newer: string): Promise<void> => {
    await using files = await workspace({ 'old.yaml': older, 'new.yaml': newer });
    expect(await diff(files, { exitCode: true })).toEqual({ exitCode: 0, text: 'no changes\n' });
  };

  it('comments, quotes, order and notation are ignored', async () => {
    await same(
      ORDERS,
      `# a comment
versions:
  v2: { released: "2026-01-15T01:00:00+01:00" }
  v1: { guide: https://docs.example.com/v2, successor: v2, released: 2024-06-01, sunset: 2027-01-15, deprecated: 2026-01-15 }
resolve:
  - default: v2
  - header: API-Version
  - path: "/api/{version}/orders"
upstreams:
  v2: { targets: [http://127.0.0.1:4002] }
  v1: { targets: [http://127.0.0.1:4001] }
access: { identity: main, scopes: { read: [orders:read] } }
base: /api/orders
api: orders
`,
    );
  });

  it('a written default is ignored', async () => {
    await same(
      WIDE,
      WIDE.replace(
        'base:',
        'audience: public\nmode: enforce\nlocations: map\necho: false\nwarning: true\nupstream_wins: false\nshared: false\nrules: { notice-period: warning }\nbase:',
      )
        .replace(
          'rate: 600/1m',
          'rate: 600/1m, burst: 600, by: consumer, on_store_failure: local, exact: false',
        )
        .replace(
          '    successor: v2\n',
          '    successor: v2\n    announced: 2026-01-15\n    after: gone\n    retired: 2027-01-15\n',
        )
        .replace(
          'timeout: 3s',
          'timeout: { headers: 3s, connect: 1s }, path: /api/orders, authorization: keep, version_as: { header: API-Version }',
        ),
    );
  });

  it('a written default of a pin is ignored', async () => {
    const dated = (pin: string) =>
      ORDERS.replace('{ default: v2 }', `{ pin: ${pin} }`)
        .replaceAll(/\bv1:/g, '2024-06-01:')
        .replaceAll(/\bv2([: ])/g, '2026-01-15$1')
        .replaceAll(', guide: https://docs.example.com/2026-01-15 ', ', guide: https://docs.example.com/v2 ');
    await same(
      dated('{ created: account_created }'),
      dated('{ created: account_created, by: consumer, match: floor }'),
    );
    await using files = await workspace({ 'old.yaml': dated('{}'), 'new.yaml': dated('{ match: exact }') });
    expect((await diff(files)).text).toContain(
      'orders: carrier pin {"by":"consumer","match":"floor"} -> pin {"by":"consumer","match":"exact"}\n',
    );
  });

  it('another notation of the same windows is ignored', async () => {
    await same(
      WIDE,
      WIDE.replace(
        'from: 2026-12-08T14:00:00Z, for: 15m',
        'from: 2026-12-08T14:00:00Z, until: 2026-12-08T14:15:00Z',
      ),
    );
  });

  it('another layout of each sample policy is ignored', async () => {
    const folder = join(import.meta.dirname, '../../../policies');
    for (const name of (await readdir(folder)).filter((each) => each.endsWith('.yaml'))) {
      // The copies have no descriptions and guides beside them.
      const written = await readFile(join(folder, name), 'utf8');
      const text = written.replace(/^ *(?:openapi: |guide: \.\/).*\n/gm, '');
      await same(text, stringify(parse(text, { version: '1.2' }), { indent: 4, defaultKeyType: 'PLAIN' }));
    }
  });
});
