// Tests the lookup of routes by host and path: matches, precedence, tail.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../../gateway/plan/routes/route-table.ts';
import { literalReading, readingsOf } from '../../../gateway/policy/paths/rules.ts';
import { pathRulesOf } from '../../../gateway/sections/routes/compile.ts';
import { createRouteTable } from '../../support/route-table.ts';

const HOST = 'api.example.com';
const at = (path: string, route = path, host = HOST): Route<string> => ({ host, path, route });
const table = createRouteTable([
  at('/api/orders'),
  at('/api/{version}/orders'),
  at('/api/{version}/orders/archive'),
  at('/api/v1/special'),
  at('/api/v1'),
  at('/{version}/echo'),
  at('/'),
  at('/', 'partner', 'partner.example.com'),
]);
const match = (path: string) => {
  const found = table.match(HOST, path);
  return found && [found.route, found.versionSegment, found.tail];
};

describe('route match', () => {
  it.each([
    ['/api/orders', '/api/orders', undefined, ''],
    ['/api/orders/7', '/api/orders', undefined, '/7'],
    ['/api/orders/', '/api/orders', undefined, '/'],
    ['/api/v2/orders/7', '/api/{version}/orders', 'v2', '/7'],
    ['/api/1/orders', '/api/{version}/orders', '1', ''],
    ['/api/v01/orders', '/api/{version}/orders', 'v01', ''],
    ['/api/v1.2.0/orders', '/api/{version}/orders', 'v1.2.0', ''],
    ['/v1/echo/a', '/{version}/echo', 'v1', '/a'],
  ])('%s is %s', (path, route, version, tail) => {
    expect(match(path)).toEqual([route, version, tail]);
  });

  it('the longest route wins', () => {
    expect(match('/api/v2/orders/archive/1')).toEqual(['/api/{version}/orders/archive', 'v2', '/1']);
    expect(match('/nothing/here')).toEqual(['/', undefined, '/nothing/here']);
  });

  it('a literal wins over {version}, unless its route is shorter', () => {
    expect(match('/api/v1/special/7')).toEqual(['/api/v1/special', undefined, '/7']);
    expect(match('/api/v1/orders/7')).toEqual(['/api/{version}/orders', 'v1', '/7']);
    expect(match('/api/v1/other')).toEqual(['/api/v1', undefined, '/other']);
    const equal = createRouteTable([at('/{version}/a'), at('/v1/a')]);
    expect(equal.match(HOST, '/v1/a')?.route).toBe('/v1/a');
  });

  it('a match ends at the end of a segment', () => {
    expect(match('/api/ordersX')).toEqual(['/', undefined, '/api/ordersX']);
    expect(match('/api/v2/orders/archived')).toEqual(['/api/{version}/orders', 'v2', '/archived']);
  });

  it('{version} matches only segments that look like a version', () => {
    const paths = createRouteTable([at('/api/{version}')]);
    for (const segment of ['vendors', 'V1', 'orders', 'v', '', 'x1', '-1']) {
      expect(paths.match(HOST, `/api/${segment}`)).toBeUndefined();
    }
  });

  it.each([
    '/api//v1/orders',
    '//api/v1/orders',
    '/api/v1%2Forders',
    '/api%2Fv1/orders',
    '/api/v1;a=b/orders',
    '/api/v1//orders',
    '/API/v1/orders',
  ])('VER-7: %s matches nothing in the prefix', (path) => {
    const paths = createRouteTable([at('/api/{version}/orders'), at('/api/{version}')]);
    const found = paths.match(HOST, path);
    expect(found?.route).not.toBe('/api/{version}/orders');
    expect(found?.versionSegment ?? 'v1').toBe('v1');
  });

  it('VER-7: a segment with an encoded slash or a parameter is not a version', () => {
    const paths = createRouteTable([at('/api/{version}')]);
    for (const segment of ['v1%2Fx', 'v1;a=b', '1;'])
      expect(paths.match(HOST, `/api/${segment}`)).toBeUndefined();
  });

  it('the tail keeps every byte', () => {
    for (const tail of ['/a%2Fb', '//x', '/;p=1', '/v9', '/ä', '/.'])
      expect(match(`/api/orders${tail}`)?.[2]).toBe(tail);
  });

  it('a path without a leading slash matches nothing', () => {
    expect(match('')).toBeUndefined();
    expect(match('*')).toBeUndefined();
  });

  it('names of object members are ordinary segments', () => {
    const paths = createRouteTable([at('/api')]);
    expect(paths.match(HOST, '/constructor')).toBeUndefined();
    expect(paths.match(HOST, '/__proto__')).toBeUndefined();
  });

  it('equals a comparison with every route', () => {
    const segment = fc.constantFrom<string[]>('a', 'b', 'v1', 'v2', '7', 'vx');
    const pattern = fc
      .tuple(fc.array(segment, { maxLength: 3 }), fc.option(fc.nat(3), { nil: undefined }))
      .map(
        ([segments, place]) =>
          `/${(place === undefined ? segments : segments.toSpliced(place, 0, '{version}')).join('/')}`,
      );
    const request = fc
      .array(fc.oneof(segment, fc.constant('')), { maxLength: 5 })
      .map((segments) => `/${segments.join('/')}`);
    fc.assert(
      fc.property(fc.uniqueArray(pattern, { maxLength: 8 }), request, (patterns, path) => {
        const found = createRouteTable(patterns.map((each) => at(each))).match(HOST, path);
        const lengths = patterns.map((each) => naiveEnd(each, path));
        expect(found === undefined ? -1 : path.length - found.tail.length).toBe(Math.max(-1, ...lengths));
        if (found !== undefined) expect(naiveEnd(found.route, path)).toBe(path.length - found.tail.length);
      }),
      { numRuns: 500 },
    );
  });
});

/** The end of `pattern` in `path`, or -1. */
function naiveEnd(pattern: string, path: string): number {
  if (pattern === '/') return 0;
  const source = pattern.replace('{version}', 'v?[0-9][^/]*');
  return new RegExp(`^${source}(?=/|$)`).exec(path)?.[0].length ?? -1;
}

describe('hosts', () => {
  it('routes of one host do not apply to another', () => {
    expect(table.match('partner.example.com', '/api/orders')?.route).toBe('partner');
    expect(table.match('other.example.com', '/api/orders')).toBeUndefined();
  });

  it('are known if they have routes', () => {
    expect(table.knowsHost(HOST)).toBe(true);
    expect(table.knowsHost('other.example.com')).toBe(false);
    expect(table.knowsHost('localhost')).toBe(false);
  });

  it.each(['127.0.0.1', 'localhost', '[::1]'])('a route on %s applies to every loopback name', (bound) => {
    const loopback = createRouteTable([at('/api', 'api', bound)]);
    for (const asked of ['127.0.0.1', 'localhost', '[::1]']) {
      expect(loopback.knowsHost(asked)).toBe(true);
      expect(loopback.match(asked, '/api')?.route).toBe('api');
    }
  });
});

describe('building', () => {
  it('the first of two routes at one place wins, also under two loopback names', () => {
    const twice = createRouteTable([at('/api', 'a'), at('/api/', 'b'), at('/other', 'b')]);
    expect(twice.match('api.example.com', '/api/x')?.route).toBe('a');
    expect(twice.match('api.example.com', '/other')?.route).toBe('b');
    const names = createRouteTable([at('/api', 'a', 'localhost'), at('/api', 'b', '127.0.0.1')]);
    expect(names.match('127.0.0.1', '/api')?.route).toBe('a');
  });

  it('refuses a path with two versions', () => {
    expect(() => createRouteTable([at('/{version}/{version}')])).toThrow(RangeError);
  });
});

describe('hosts that carry a version', () => {
  const versioned = createRouteTable([
    at('/orders', 'by subdomain', '{version}.api.example.com'),
    at('/orders', 'by name', 'v7.api.example.com'),
  ]);

  it.each([
    ['v1.api.example.com', 'by subdomain', 'v1'],
    ['v01.api.example.com', 'by subdomain', 'v01'],
    ['2026-06-01.api.example.com', 'by subdomain', '2026-06-01'],
    ['vx.api.example.com', 'by subdomain', 'vx'],
    ['v.api.example.com', 'by subdomain', 'v'],
    ['v-1.api.example.com', 'by subdomain', 'v-1'],
    ['v7.api.example.com', 'by name', undefined],
  ])('%s is found %s', (host, route, subdomain) => {
    expect(versioned.knowsHost(host)).toBe(true);
    expect(versioned.match(host, '/orders/7')).toEqual({
      route,
      versionSegment: undefined,
      subdomain,
      tail: '/7',
    });
  });

  it.each(['api.example.com', 'www.api.example.com', 'v1.v2.api.example.com', '.api.example.com', 'v1', ''])(
    '%j has no route',
    (host) => {
      expect(versioned.knowsHost(host)).toBe(false);
      expect(versioned.match(host, '/orders')).toBeUndefined();
    },
  );
});

describe('nested routes', () => {
  const below = createRouteTable([
    { host: 'a.example.com', path: '/o', route: 'outer' },
    { host: 'b.example.com', path: '/o', route: 'outer' },
    { host: 'a.example.com', path: '/o/secure', route: 'inner' },
    { host: 'a.example.com', path: '/other', route: 'other' },
  ]);

  it('VER-7: cover all hosts, since one service may be behind all of them', () => {
    const [found] = below.below('outer')?.reached(literalReading('/secure/x')) ?? [];
    expect(found).toEqual({ route: 'inner', versionSegment: undefined, depth: 1 });
  });

  it.each([
    [undefined, '/secure/deep/x', ['deep']],
    [undefined, '/secure/DEEP/x', ['deep', 'inner']],
    // One router may mind case, and pass a path to another that does not.
    [undefined, '/SECURE/deep/x', ['deep', 'inner', 'outer']],
    ['strict', '/SECURE/x', ['inner', 'outer']],
    ['express', '/SECURE/DEEP/x', ['deep']],
    ['go', '/SECURE/x', ['inner', 'outer']],
    ['fastapi', '/SECURE/x', ['outer']],
  ] as const)(
    'VER-7: with paths: %s, %s finds each API that some router may choose: %j',
    (paths, path, routes) => {
      const nested = createRouteTable([
        at('/o', 'outer'),
        at('/o/secure', 'inner'),
        at('/o/secure/deep', 'deep'),
      ]).below('outer');
      const found = readingsOf(path, pathRulesOf(paths))?.flatMap((each) => nested?.reached(each) ?? []);
      expect(found?.map(({ route }) => route)).toEqual(routes);
    },
  );

  it('are undefined if there are none', () => {
    expect(below.below('inner')).toBeUndefined();
    expect(below.below('other')).toBeUndefined();
  });
});
