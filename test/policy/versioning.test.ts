// Version resolution: from the readers to one version or a refusal.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import type { FieldRecord } from '../../gateway/policy/contract.ts';
import { isNamedOnlyInUrl, readEvidence } from '../../gateway/policy/versioning/readers.ts';
import type {
  CarrierInput,
  Claim,
  Evidence,
  Resolution,
  ResolutionRules,
} from '../../gateway/policy/versioning/resolution.ts';
import { resolveVersion } from '../../gateway/policy/versioning/resolve.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';
import { anyText } from '../support/any-text.ts';

const rules = createResolutionRules({
  labels: ['v1', 'v3', 'v2.0.0', 'v2.1.0', 'v4'],
  header: 'API-Version',
  default: 'v3',
});
const strict = createResolutionRules({ labels: ['v1', 'v4'], header: 'API-Version', default: undefined });
const NOW = Date.UTC(2026, 10, 20);
/** v4 is planned, v2.0.0 has ended. */
const standing = {
  now: NOW,
  isReleased: (label: string) => label !== 'v4',
  isServed: (label: string) => label !== 'v4' && label !== 'v2.0.0',
  mayAnswer: (label: string) => label !== 'v4' && label !== 'v2.0.0',
};

type Written = Partial<Omit<CarrierInput, 'headers'>> & { readonly headers?: FieldRecord };

/** The evidence of a GET. */
function evidence(by: ResolutionRules, { headers, ...input }: Written): Evidence {
  const silent: CarrierInput = {
    method: 'GET',
    pathSegment: undefined,
    subdomain: undefined,
    tail: '',
    search: '',
    headers: new RecordFields(headers),
  };
  return readEvidence(by, { ...silent, ...input });
}

function resolve(pathSegment: string | undefined, headers: FieldRecord = {}, by = rules): Resolution {
  return resolveVersion(by, evidence(by, { pathSegment, headers }), standing);
}
const path = (value: string): Claim => ({ carrier: 'path', value });
const header = (value: string): Claim => ({ carrier: 'header', value });
const known = ['v3', 'v2.1.0', 'v1'];

describe('readers', () => {
  it('read every carrier in the order of the table', () => {
    expect(evidence(rules, { pathSegment: 'v1', headers: { 'api-version': '2' } }).claims).toEqual([
      path('v1'),
      header('2'),
    ]);
  });

  it('find no claim without a carrier', () => {
    expect(evidence(rules, {}).claims).toEqual([]);
  });

  it('VER-2: do not read a header that the API has not enabled', () => {
    const pathOnly = createResolutionRules({ labels: ['v1'], header: undefined, default: undefined });
    expect(evidence(pathOnly, { pathSegment: 'v1', headers: { 'api-version': '2' } }).claims).toEqual([
      path('v1'),
    ]);
  });

  it.each<[string, FieldRecord[string]]>([
    ['joined by Node', '1, 2'],
    ['joined with tabs', '1\t,\t2'],
    ['kept apart', ['1', '2']],
  ])('VER-3: a header sent twice makes two claims, %s', (_how, value) => {
    expect(evidence(rules, { headers: { 'api-version': value } }).claims).toEqual([header('1'), header('2')]);
  });

  it('remove only SP and HTAB as optional whitespace', () => {
    const { claims } = evidence(rules, { headers: { 'api-version': '1\u00a0, 1' } });
    expect(claims).toEqual([header('1\u00a0'), header('1')]);
  });
});

describe('resolution', () => {
  it.each<[string, string | undefined, string | undefined, string, Claim['carrier']]>([
    ['vN in the path', 'v1', undefined, 'v1', 'path'],
    ['N in the header', undefined, '1', 'v1', 'header'],
    ['vN in the header', undefined, 'v1', 'v1', 'header'],
    ['a major means its newest version', 'v2', undefined, 'v2.1.0', 'path'],
    ['a full version is exact', undefined, '2.0.0', 'v2.0.0', 'header'],
    ['a full version in the path', 'v2.0.0', undefined, 'v2.0.0', 'path'],
    ['VER-3: equal meanings agree', 'v1', '1', 'v1', 'path'],
    ['VER-3: a major agrees with its newest version', 'v2', '2.1.0', 'v2.1.0', 'path'],
    ['VER-3: the same value twice in one carrier', undefined, '1, 1', 'v1', 'header'],
    ['no version gets the default', undefined, undefined, 'v3', 'default'],
  ])('%s', (_name, segment, value, label, carrier) => {
    expect(resolve(segment, { 'api-version': value })).toEqual({ kind: 'resolved', label, carrier });
  });

  it.each<[string, string | undefined, string, readonly Claim[]]>([
    ['path v1 and header 3', 'v1', '3', [path('v1'), header('3')]],
    ['two header lines', undefined, '1, 3', [header('1'), header('3')]],
    ['a known and an unknown version', 'v1', '9', [path('v1'), header('9')]],
    ['a major and an older version of it', 'v2', '2.0.0', [path('v2'), header('2.0.0')]],
    ['a version and an empty value', undefined, '1,', [header('1'), header('')]],
    ['only the two that differ are named', 'v1', '1, 1, 3, 2', [path('v1'), header('3')]],
  ])('VER-3: %s are ambiguous', (_name, segment, value, claims) => {
    const refusal = { reason: 'version_ambiguous', claims };
    expect(resolve(segment, { 'api-version': value })).toEqual({ kind: 'refused', refusal });
  });

  it.each(['v01', 'v1.', 'v1;a=b', 'v1.2', '1', 'v1%20', 'v1abc', ''])(
    'VER-1: %j is malformed in a path',
    (segment) => {
      const refusal = { reason: 'version_malformed', claim: path(segment), known };
      expect(resolve(segment)).toEqual({ kind: 'refused', refusal });
    },
  );

  it.each(['', 'V1', '01', '+1', '1e0', '１', '1.', '*', 'latest', '__proto__', 'constructor'])(
    'VER-1: %j is malformed in a header',
    (value) => {
      const refusal = { reason: 'version_malformed', claim: header(value), known };
      expect(resolve(undefined, { 'api-version': value })).toEqual({ kind: 'refused', refusal });
    },
  );

  it('VER-1: a path without the v is malformed even if a header agrees', () => {
    const refusal = { reason: 'version_malformed', claim: path('1'), known };
    expect(resolve('1', { 'api-version': '1' })).toEqual({ kind: 'refused', refusal });
  });

  it('an explicit unknown version never gets the default', () => {
    const refusal = { reason: 'version_unknown', claim: header('9'), known };
    expect(resolve(undefined, { 'api-version': '9' })).toEqual({ kind: 'refused', refusal });
  });

  it('a full version never resolves to a similar one', () => {
    expect(resolve('v2.0.1')).toMatchObject({ refusal: { reason: 'version_unknown' } });
    expect(resolve('v1.0.0')).toMatchObject({ refusal: { reason: 'version_unknown' } });
  });

  it('STAT-1: a planned version counts as unknown and is not listed', () => {
    const refusal = { reason: 'version_unknown', claim: path('v4'), known };
    expect(resolve('v4')).toEqual({ kind: 'refused', refusal });
  });

  it('STAT-2: an ended version resolves, but no refusal suggests it', () => {
    expect(resolve('v2.0.0')).toMatchObject({ kind: 'resolved', label: 'v2.0.0' });
    expect(resolve('v9')).toMatchObject({ refusal: { known: ['v3', 'v2.1.0', 'v1'] } });
  });

  it('STAT-1: a major means the newest released version while a newer one is planned', () => {
    const next = createResolutionRules({
      labels: ['v1.0.0', 'v1.1.0'],
      header: undefined,
      default: undefined,
    });
    const resolution = resolveVersion(next, evidence(next, { pathSegment: 'v1' }), {
      now: NOW,
      isReleased: (label) => label === 'v1.0.0',
      isServed: (label) => label === 'v1.0.0',
      mayAnswer: (label) => label === 'v1.0.0',
    });
    expect(resolution).toEqual({ kind: 'resolved', label: 'v1.0.0', carrier: 'path' });
  });

  it('without a version and a default the refusal lists the served versions', () => {
    const refusal = { reason: 'version_missing', known: ['v1'] };
    expect(resolve(undefined, {}, strict)).toEqual({ kind: 'refused', refusal });
  });

  it('a default that is not released yet is not served', () => {
    const planned = createResolutionRules({ labels: ['v1', 'v4'], header: undefined, default: 'v4' });
    expect(resolve(undefined, {}, planned)).toEqual({
      kind: 'refused',
      refusal: { reason: 'version_missing', known: ['v1'] },
    });
  });

  it('resolves only declared, released labels and never throws, for any request', () => {
    const text = fc.oneof(fc.string(), anyText, fc.stringMatching(/^v?[0-9.,]{0,6}$/));
    fc.assert(
      fc.property(
        fc.option(text, { nil: undefined }),
        fc.option(text, { nil: undefined }),
        (segment, value) => {
          const resolution = resolve(segment, { 'api-version': value });
          if (resolution.kind === 'open') throw new Error('nothing is pinned here');
          if (resolution.kind === 'resolved') expect([...known, 'v2.0.0']).toContain(resolution.label);
          else expect(resolution.refusal.reason).toMatch(/^version_(ambiguous|malformed|unknown)$/);
        },
      ),
    );
  });
});

it.each<[string, Written, boolean]>([
  ['nothing', {}, true],
  ['a path', { pathSegment: 'v1' }, true],
  ['a subdomain beside a path', { pathSegment: 'v1', subdomain: 'v1' }, true],
  ['a header beside a path', { pathSegment: 'v1', headers: { 'api-version': '1' } }, false],
  ['a query', { search: '?v=1' }, false],
  ['a type', { headers: { accept: 'application/vnd.acme.v1+json' } }, false],
  ['a type beside a path', { pathSegment: 'v1', headers: { accept: 'application/vnd.acme.v1+json' } }, false],
  ['a type without a version', { pathSegment: 'v1', headers: { accept: 'application/json' } }, true],
])('RET-5: whether %s names the version only in the URL', (_what, input, expected) => {
  const plain = 'application/json';
  const mediaTypes = [{ before: 'application/vnd.acme.', after: '+json', parameter: undefined, plain }];
  const every = createResolutionRules({
    labels: ['v1'],
    header: 'API-Version',
    query: 'v',
    mediaTypes,
    default: 'v1',
  });
  expect(isNamedOnlyInUrl(evidence(every, input))).toBe(expected);
});

describe('VER-1: a version in the path below the base', () => {
  const below = (after = '') =>
    createResolutionRules({
      labels: ['v1', 'v2'],
      header: undefined,
      default: 'v2',
      pathInTail: { before: '/of', after },
    });
  const claimed = (tail: string, by = below()) => evidence(by, { tail }).claims.map(({ value }) => value);

  it.each([
    ['/of/vx', 'vx'],
    ['/of/v', 'v'],
    ['/of/V1/7', 'V1'],
    ['/of/v01', 'v01'],
    ['/of/v-1', 'v-1'],
    ['/of/v1%20/7', 'v1%20'],
    ['/of/%20v1', '%20v1'],
    ['/of/v1;a=b', 'v1;a=b'],
    ['/of/v1%2Fx', 'v1%2Fx'],
    ['/of//v1', '/v1'],
    ['/of/version1', 'version1'],
    ['/of/%EF%BD%961', '%EF%BD%961'],
  ])('%s misspells a version', (tail, value) => {
    expect(claimed(tail)).toEqual([value]);
  });

  it.each(['', '/', '/of', '/of/', '/of/vendors', '/of/vehicles/v1', '/of/x1', '/off/vx', '/vx', '/of/very'])(
    '%j names no version',
    (tail) => expect(claimed(tail)).toEqual([]),
  );

  it('is found only if the rest of the template follows', () => {
    const by = below('/orders');
    expect(claimed('/of/vx/orders/7', by)).toEqual(['vx']);
    for (const tail of ['/of/vx', '/of/vx/ordersX', '/of/vx/other']) expect(claimed(tail, by)).toEqual([]);
  });
});

describe('dates as versions', () => {
  const days = ['2024-01-01', '2025-03-01', '2026-06-01'];
  const floor = createResolutionRules({ labels: days, header: 'V', default: undefined, match: 'floor' });
  const ask = (value: string): Resolution =>
    resolveVersion(floor, evidence(floor, { headers: { v: value } }), {
      now: NOW,
      isReleased: () => true,
      isServed: () => true,
      mayAnswer: () => true,
    });

  it('VER-5: a day means the newest version up to it, and none before the first or after today', () => {
    const day = fc
      .date({ noInvalidDate: true, min: new Date('2023-01-01'), max: new Date('2028-12-31') })
      .map((date) => date.toISOString().slice(0, 10));
    fc.assert(
      fc.property(day, (asked) => {
        const expected = asked > '2026-11-20' ? undefined : days.findLast((label) => label <= asked);
        expect(ask(asked)).toMatchObject(
          expected === undefined
            ? { kind: 'refused', refusal: { reason: 'version_unknown' } }
            : { kind: 'resolved', label: expected, carrier: 'header' },
        );
      }),
      // Today's first millisecond, and tomorrow's.
      { examples: [['2026-11-20'], ['2026-11-21']] },
    );
  });
});

describe('every carrier at once', () => {
  const all = createResolutionRules({
    labels: ['v1', 'v2', '2026-06-01'],
    header: 'V',
    query: 'v',
    default: 'v2',
    match: 'floor',
  });

  it('resolves only declared versions and never throws, for any request', () => {
    const text = fc.oneof(anyText, fc.constantFrom('v1', '1', 'v2', '2026-06-01', '2026-07-01', ''));
    const maybe = fc.option(text, { nil: undefined });
    const search = fc.array(fc.tuple(fc.constantFrom('v', 'x', '%76'), text), { maxLength: 3 });
    fc.assert(
      fc.property(maybe, maybe, maybe, search, (pathSegment, subdomain, v, pairs) => {
        const query = `?${pairs.map((pair) => pair.join('=')).join('&')}`;
        const said = evidence(all, { pathSegment, subdomain, search: query, headers: { v } });
        const resolution = resolveVersion(all, said, {
          now: NOW,
          isReleased: () => true,
          isServed: () => true,
          mayAnswer: () => true,
        });
        if (resolution.kind === 'open') throw new Error('nothing is pinned here');
        if (resolution.kind === 'resolved') expect(all.labels).toContain(resolution.label);
        else expect(resolution.refusal.reason).toMatch(/^version_(ambiguous|malformed|unknown)$/);
      }),
    );
  });
});
