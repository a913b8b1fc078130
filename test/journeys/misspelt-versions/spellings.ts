// Requests that misspell a version, by each carrier of a policy.
import fc from 'fast-check';
import type { Ask } from '../../support/http-client.ts';
import type { DrawnPolicy } from './policies.ts';

export interface Spelling {
  readonly ask: Ask;
  readonly status: number;
  /** Whether the response lists the versions: not if two versions differ or no route matches. */
  readonly lists: boolean;
}

const SOUND = /^v?\d{1,4}(?:\.\d{1,4}\.\d{1,4})?$|^\d{4}-\d\d-\d\d$/;
/** As the rest of a media type, it may be part of another type's name. */
const WORD = /^(?:[a-uw-z]|v[a-z])/i;
/** Refused in any path (VER-7). */
const DOTS = /^\.{1,2}$/;
/** Text that is no version in any carrier, and does not end a segment, field or media type. */
export const noVersion: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('x', 'vx', 'v', 'vv1', 'v01', 'v1.', 'v1.2', 'v1x', '1e0', '+1', 'v-1', 'v+1', '-1'),
  fc.constantFrom('V1', 'v10000', '*', 'latest', '2026-13-01', '2026-02-30', '2026-6-1', '2025-03-01T00'),
  fc.stringMatching(/^v?[a-z0-9.+_-]{1,6}$/).filter((text) => !SOUND.test(text) && !DOTS.test(text)),
);

const FULL_WIDTH = 0xfee0;
const wide = (text: string) =>
  [...text].map((each) => String.fromCodePoint((each.codePointAt(0) ?? 0) + FULL_WIDTH)).join('');
export const hex = (text: string) =>
  [...text].map((each) => `%${(each.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`).join('');

/** Names that some services read as `query`, also without `=`. */
const bareNamesLike = (query: string): readonly string[] => [
  query.toUpperCase(),
  hex(query.toUpperCase()),
  `${query}[]`,
  `${query}%5B%5D`,
  `${query}%5b0%5d`,
  `[${query}]`,
];

/** Names of parameters that some services read as `query`. */
export function namesLike(query: string): readonly string[] {
  const first = query.slice(0, 1);
  const more = [
    `${query}[a][b]`,
    `%5B${query}%5Dx`,
    `[${query}][]`,
    `${query}.`,
    `${query}%00`,
    `${query}%00x`,
    `;${query}`,
    `x=1;${query}`,
    `x;${query}`,
    `?${query}`,
    `amp;${query}`,
  ];
  const blank = [
    `${query}+`,
    `+${query}`,
    `%20${query}`,
    `${query}%09`,
    `${query}%E2%80%8B`,
    `%EF%BB%BF${query}`,
  ];
  const twice = [
    `%25${hex(first).slice(1)}${query.slice(1)}`,
    `${query}%255B%255D`,
    `${query}%3D1`,
    encodeURIComponent(wide(query)),
  ];
  const php = query.includes('_')
    ? [query.replace('_', '.'), query.replace('_', '+'), query.replace('_', '%5B')]
    : [];
  return [...bareNamesLike(query), ...more, ...blank, ...twice, ...php];
}

/** `bad`: not a version. `good`: a version that is served. */
export function misspelt(api: string, policy: DrawnPolicy, bad: string, good: string): readonly Spelling[] {
  const base = `/api/${api}`;
  const { path, subdomain, header, query, named, parameter } = policy;
  const all: Spelling[] = [];
  const say = (status: number, ...asks: readonly Ask[]) =>
    all.push(...asks.map((ask) => ({ ask, status, lists: true })));
  const sayPlainly = (status: number, ...asks: readonly Ask[]) =>
    all.push(...asks.map((ask) => ({ ask, status, lists: false })));

  if (path === 'before') {
    const segments = [
      encodeURIComponent(bad),
      'v',
      'vx',
      good.toUpperCase().replace(/^\d/, 'V'),
      `${good}%20`,
    ];
    sayPlainly(
      404,
      ...[...segments, `${good};a=b`, `/${good}`].map((each) => ({ path: `/api/${each}/${api}` })),
    );
  }
  if (path === 'below') {
    const near = [
      'v',
      'vx',
      'V1',
      'V',
      'v01',
      'v-1',
      'v.1',
      'version1',
      'ver2',
      'v1x',
      'VER1',
      '01',
      wide('v1'),
    ];
    const cut = [
      `${good}%20`,
      `%20${good}`,
      `${good};a=b`,
      `;${good}`,
      `${good}%2Fx`,
      `/${good}`,
      `//${good}`,
    ];
    const segments = [...near.map(encodeURIComponent), ...cut];
    say(404, ...segments.flatMap((each) => ['', '/7'].map((tail) => ({ path: `${base}/${each}${tail}` }))));
  }
  if (subdomain) {
    const labels = ['v', 'vx', 'v01', 'v1x', 'v-1', 'v1-2', '1', '2026-13-01', 'version1', '0x1', 'v1e0'];
    say(404, ...labels.map((each) => ({ path: base, headers: { host: `${each}.${api}.example.com` } })));
  }
  if (header !== undefined) {
    const lines = [bad, '', `${good} ${good}`, `${good};x=1`, `"${good}"`, `${good}\u00a0`, 'ï¼\u0091', ','];
    const ask = (value: string | string[]): Ask => ({ path: base, headers: { [header]: value } });
    say(400, ...lines.map(ask));
    // A CGI service reads all of these as the header itself.
    const underscored = header.replaceAll('-', '_');
    const names = [underscored, underscored.toUpperCase(), header.replaceAll('-', '.')];
    say(400, ...names.map((each) => ({ path: base, headers: { [each]: good } })));
    sayPlainly(400, ...names.map((each) => ({ path: base, headers: { [header]: good, [each]: good } })));
    sayPlainly(400, ...[`${good},`, `${good}, ${bad}`, [good, bad]].map(ask));
  }
  if (query !== undefined) {
    const names = namesLike(query);
    const values = [encodeURIComponent(bad), '', `${good}%00`, `+${good}`, `${good}%20`, `${good};x=1`];
    const pairs = [
      ...values.map((value) => `${query}=${value}`),
      query,
      ...names.map((name) => `${name}=${good}`),
      ...bareNamesLike(query),
    ];
    const beside = [
      ...values.map((value) => `${query}=${value}&${query}=${good}`),
      ...bareNamesLike(query),
    ].map((each) => `${query}=${good}&${each}`);
    sayPlainly(400, ...beside.map((pair) => ({ path: `${base}?${pair}` })));
    say(400, ...pairs.map((pair) => ({ path: `${base}?a=1&${pair}&b=2` })), { path: `${base}?${query}` });
  }
  const types: string[] = [];
  const torn: string[] = [];
  if (named !== undefined) {
    const { before, after } = named;
    const sound = `${before}${good}${after}`;
    // Media types are case-insensitive (NEG-1), so `V1` is v1 there.
    const isOther = SOUND.test(bad.toLowerCase()) || WORD.test(bad);
    const odd = isOther ? 'vx' : bad;
    const tails = [
      `${odd}${after}`,
      after,
      `${good}+other`,
      good,
      `.${good}${after}`,
      `${good}${after}x`,
      `vv${good}${after}`,
      `version-${good}${after}`,
    ];
    types.push(...tails.map((tail) => `${before}${tail}`), `${sound} x`, `${sound} application/json`);
    types.push(
      `${sound.replace('/', ' /')}`,
      `"${sound}"`,
      `text/html; x=", ${sound}`,
      sound.replace('application', 'text'),
      sound.replace('application/', ''),
      `${before}${odd}`,
    );
  }
  const type = 'application/vnd.acme+json';
  if (parameter !== undefined) {
    const said = [
      `${parameter}=${bad}`,
      `${parameter}=`,
      parameter,
      `${parameter}=""`,
      `${parameter} ${good}`,
    ];
    const odd = [
      `${parameter}:${good}`,
      `${parameter}="${good}`,
      `${parameter}="${good}"x`,
      `"${parameter}"=${good}`,
    ];
    const near = [`${parameter}[]=${good}`, `${parameter}*=${good}`, `charset=utf-8 ${parameter}=${good}`];
    types.push(...[...said, ...odd, ...near].map((each) => `${type};${each}`));
    types.push(
      `${type} ${parameter}=${good}`,
      `application/vnd.acme+other; ${parameter}=${good}`,
      `application/vnd.acme; ${parameter}=${good}`,
    );
    types.push(`${type};${parameter.toUpperCase()}=${bad}`);
    torn.push(`${type}; ${parameter}=${good}; ${parameter}=${bad}`);
  }
  const sound = [
    ...(named === undefined ? [] : [`${named.before}${good}${named.after}`]),
    ...(parameter === undefined ? [] : [`${type};${parameter}=${good}`]),
  ];
  const weights = [
    '1.5',
    '-1',
    '-0',
    'a',
    '',
    '1.001',
    '0.1234',
    '1e0',
    '01',
    '.5',
    '0x1',
    '1;q=0.5',
    '0;q=1',
  ];
  const weighed = sound.flatMap((each) => [...weights.map((weight) => `${each};q=${weight}`), `${each};q`]);
  const accept = (value: string): Ask => ({ path: base, headers: { accept: value } });
  const content = (value: string): Ask => ({
    path: base,
    method: 'POST',
    body: '{}',
    headers: { 'content-type': value },
  });
  say(
    406,
    ...[...types, ...weighed].map(accept),
    ...types.slice(0, 3).map((each) => accept(`${each}, ${each};q=0.5`)),
  );
  const lists = sound.flatMap((each) => [
    `${each}, ${each}`,
    `${each}, application/json`,
    `application/json,${each}`,
  ]);
  say(415, ...[...types, ...lists, ...sound.map((each) => `${each},`)].map(content));
  sayPlainly(400, ...torn.map(accept), ...torn.map(content));
  return all;
}
