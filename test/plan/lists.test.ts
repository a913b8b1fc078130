// Tests lists with malformed entries: every entry is reported, and problems of its neighbours too.
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { placesOf } from '../support/grammar-places.ts';
import { GATEWAY, ORDERS, type Workspace, workspace } from './workspace.ts';

const FILES = {
  policy: ['policies/orders.yaml', ORDERS],
  gateway: ['config/gateway.yaml', GATEWAY],
} as const;
type Kind = keyof typeof FILES;

/** Two malformed entries for every list of the grammars. */
const MALFORMED: readonly (readonly [unknown, unknown])[] = [
  [{ zzz: 1 }, { yyy: 2 }],
  [[['a']], [['b']]],
  [null, null],
];

const fileWith = (kind: Kind, text: string): Promise<Workspace> =>
  workspace({
    'config/gateway.yaml': GATEWAY,
    'policies/orders.yaml': ORDERS,
    [FILES[kind][0]]: text,
  });

/** `list` at `place` in a valid file. */
function withList(kind: Kind, place: string, list: readonly unknown[]): string {
  const set = (node: unknown, [key, ...rest]: readonly string[]): unknown => {
    if (key === undefined) return list;
    if (key === '#') return [set(Array.isArray(node) ? node[0] : undefined, rest)];
    const map = typeof node === 'object' && node !== null && !Array.isArray(node) ? node : {};
    // An identity has one kind, and that of the sample takes no certificate.
    const fresh = rest[0] === 'certificate' ? 'mesh' : 'v1';
    const named = rest[0] === 'certificate' ? undefined : Object.keys(map)[0];
    const name = key === '*' ? (named ?? fresh) : key;
    return { ...map, [name]: set(Reflect.get(map, name), rest) };
  };
  return stringify(set(parse(FILES[kind][1]), place.split('.')));
}

describe.each(['policy', 'gateway'] as const)('a list of a %s file', (kind) => {
  const lists = placesOf(kind).filter(({ schema }) => schema.type === 'array');
  it.each([...new Set(lists.map(({ path }) => path))])(
    '%s: two malformed entries, two findings',
    async (place) => {
      for (const entries of MALFORMED) {
        await using files = await fileWith(kind, withList(kind, place, entries));
        const { problems } = await files.load();
        const lines = new Set(
          problems.filter(({ severity }) => severity === 'error').map(({ line }) => line),
        );
        expect(lines.size, JSON.stringify(entries)).toBeGreaterThan(1);
      }
    },
  );
});

/** Lists of well-formed entries with one finding each. */
const WRONG: readonly (readonly [Kind, string, readonly string[]])[] = [
  ['policy', 'headers.request.remove', ['Connection', 'Forwarded']],
  ['policy', 'headers.response.remove', ['Deprecation', 'Vary']],
  ['policy', 'headers.request.keep', ['Connection', 'Via']],
  [
    'policy',
    'versions.*.exceptions',
    [
      '{ consumer: a, until: 2027-01-01, from: [sunset], why: x, by: y }',
      '{ consumer: b, until: 2027-01-02, from: [sunset], why: x, by: y }',
    ],
  ],
  [
    'policy',
    'versions.*.brownouts',
    ['{ from: 2025-01-01, until: 2025-01-02 }', '{ from: 2028-01-01, until: 2028-01-02 }'],
  ],
  ['policy', 'resolve', ['{ header: API-Version }', '{ default: v8 }']],
  ['policy', 'limits', ['{ name: a, burst: 3 }', '{ name: b, burst: 3 }']],
  ['policy', 'upstreams.*.targets', ['http://10.0.0.7:1/x', 'http://10.0.0.8:1/x']],
  ['policy', 'cors.origins', ['https://a.example.com/x', 'https://b.example.com/x']],
];
const BAD = ['{ zzz: 1 }', '[[x]]', '~'];

describe('beside a malformed entry', () => {
  it.each(WRONG)(
    '%s %s: the findings about the other entries keep their positions',
    async (kind, place, entries) => {
      const found = async (list: readonly string[]): Promise<readonly string[]> => {
        const text = withList(
          kind,
          place,
          list.map((entry) => parse(entry)),
        );
        await using files = await fileWith(kind, text);
        const { problems } = await files.load();
        return problems.map(({ line, message }) => `${text.split('\n')[line - 1]?.trim()} ${message}`);
      };
      const alone = await found(entries);
      expect(alone.length).toBeGreaterThan(0);
      for (const bad of BAD)
        for (const list of [
          [bad, ...entries],
          [...entries, bad],
          [bad, ...entries, bad],
        ]) {
          const all = await found(list);
          expect(
            alone.filter((each) => !all.includes(each)),
            bad,
          ).toEqual([]);
          expect(all.length).toBeGreaterThan(alone.length);
        }
    },
  );
});

/** Valid lists. A malformed entry in place of any of theirs is the only finding. */
const SOUND: readonly (readonly [Kind, string, readonly string[]])[] = [
  ['policy', 'resolve', ['{ path: "/api/{version}/orders" }', '{ header: API-Version }', '{ default: v2 }']],
  ['policy', 'resolve', ['{ subdomain: "{version}.api.example.com" }', '{ pin: { created: made } }']],
  ['policy', 'resolve', ['{ query: version }', '{ default: v2 }']],
  ['policy', 'upstreams.*.targets', ['http://10.0.0.7:1', 'http://10.0.0.8:1']],
  ['policy', 'host', ['api.example.com', 'a.example.com']],
  [
    'policy',
    'versions.*.extended',
    ['{ to: 2027-02-15, announced: 2026-08-01 }', '{ to: 2027-04-15, announced: 2026-09-01 }'],
  ],
  ['policy', 'headers.request.remove', ['X-A', 'X-B']],
  ['policy', 'cors.origins', ['https://a.example.com', 'https://b.example.com']],
  ['gateway', 'trusted_proxies', ['10.0.0.0/8', '192.0.2.7']],
];

it.each(SOUND)('%s %s: a malformed entry is the only finding', async (kind, place, entries) => {
  const others = async (list: readonly unknown[]): Promise<readonly string[]> => {
    const text = withList(kind, place, list);
    await using files = await fileWith(kind, text);
    const { problems } = await files.load();
    return problems.map(({ line, message }) => `${text.split('\n')[line - 1]?.trim()} ${message}`);
  };
  const sound = entries.map((entry): unknown => parse(entry));
  const usual = await others(sound);
  for (const index of sound.keys()) {
    const all = await others(sound.with(index, { zzz: 1 }));
    expect(
      all.filter((each) => !usual.includes(each) && !/^- \{?\s*zzz/.test(each)),
      `${index}`,
    ).toEqual([]);
  }
});
