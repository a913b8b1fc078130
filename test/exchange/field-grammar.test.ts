// Every response field derived from a policy is valid, for random policies, requests and instants.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { workspace } from '../plan/workspace.ts';
import { fieldProblem, isHttpDate, parseLinks } from '../support/field-grammar.ts';
import { explain } from '../support/file-commands.ts';

const day = fc.integer({ min: 0, max: 3_000 });
const dateOf = (days: number) =>
  new Date(Date.UTC(2022, 0, 1) + days * 86_400_000).toISOString().slice(0, 10);
const URI_CHARACTERS = "abzAZ059-._~:/?@!$&'()*+,;=";
const page = fc
  .string({ unit: fc.constantFrom(...URI_CHARACTERS, '%2F', '%20', '#'), maxLength: 12 })
  .map((text) => `https://docs.example.com/${text}`);
const text = fc.string({
  unit: fc.constantFrom('a', 'ü', '"', '\\', "'", ',', ' x', '<', '>', '@'),
  minLength: 1,
  maxLength: 12,
});

/** Dates are sorted, so that most random policies are valid. */
const policy = fc
  .record({
    days: fc.uniqueArray(day, { minLength: 6, maxLength: 6 }).map((days) => days.toSorted((a, b) => a - b)),
    given: fc.record({
      sunset: fc.boolean(),
      retired: fc.boolean(),
      forgotten: fc.boolean(),
      v3: fc.boolean(),
    }),
    links: fc.record(
      {
        guide: page,
        status: page,
        service_doc: page,
        service_desc: page,
        reason: text,
      },
      { requiredKeys: [] },
    ),
    next: fc.oneof(
      fc.constant({ successor: 'v2' }),
      page.map((alternate) => ({ alternate })),
      fc.constant({}),
    ),
    after: fc.constantFrom(
      'gone',
      { redirect: 'v2' },
      { redirect: 'v2', unsafe: 301 },
      { redirect: 'v2', unsafe: 410 },
    ),
    form: fc.constantFrom('rfc9745', 'true', 'http-date'),
    warning: fc.boolean(),
    echo: fc.boolean(),
    limits: fc.constantFrom({}, { limits: { rate: '600/1m', by: 'address', deprecated: '50%' } }),
    access: fc.constantFrom('public', { identity: 'main', scopes: { read: ['orders:read'] } }),
    brownouts: fc.boolean(),
  })
  .map(({ days: [released, announced, deprecated, sunset, retired, forgotten], given, ...drawn }) => {
    const date = (days: number | undefined) => dateOf(days ?? 0);
    const ends = given.sunset
      ? {
          sunset: date(sunset),
          after: drawn.after,
          ...(given.retired && { retired: date(retired) }),
          ...(given.forgotten && { forgotten: date(forgotten) }),
          ...(drawn.brownouts && {
            brownouts: [{ before_sunset: '6h', for: '1h', announced: date(announced), message: 'soon gone' }],
          }),
        }
      : {};
    const upstream = { targets: ['http://127.0.0.1:4001'] };
    const v1 = {
      released: date(released),
      announced: date(announced),
      deprecated: date(deprecated),
      ...ends,
      ...drawn.links,
      ...drawn.next,
    };
    return {
      api: 'orders',
      base: '/api/orders',
      resolve: [
        { path: '/api/{version}/orders' },
        { header: 'API-Version' },
        { query: 'version' },
        { media_type: 'application/vnd.acme.{version}+json' },
      ],
      access: drawn.access,
      deprecation_header: drawn.form,
      warning: drawn.warning,
      echo: drawn.echo,
      ...drawn.limits,
      upstreams: { v1: upstream, v2: upstream, ...(given.v3 && { v3: upstream }) },
      versions: {
        v1,
        v2: { released: date(released) },
        ...(given.v3 && { v3: { released: date(deprecated) } }),
      },
    };
  });

/** Near a date of v1, or in the last hours before its sunset. */
const instant = fc.record({
  of: fc.constantFrom('released', 'deprecated', 'deprecated', 'sunset'),
  after: fc.constantFrom(-5.5 * 3_600_000, -1, 0, 1, 86_400_000),
});

const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'get'),
  path: fc.oneof(
    fc.constant('/api/v1/orders/7'),
    fc.constantFrom(
      '/api/v1/orders',
      '/api/v2/orders',
      '/api/v7/orders',
      '/api/orders',
      '/nowhere',
      '/.well-known/api-catalog',
    ),
    fc
      .string({
        unit: fc.constantFrom(...'a/.;,"<>\\^`{|}[]%ü@:=', '%2F', '%22', '%3E', '%0d', '//'),
        maxLength: 12,
      })
      .map((tail) => `/api/v1/orders/${tail}`),
  ),
  search: fc.constantFrom('', '?x=1&x=%2f', '?version=1', '?filter[a]=b|c', '?access_token=x'),
  headers: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 2,
      arbitrary: fc.array(
        fc.constantFrom(
          'API-Version: 1',
          'API-Version: v2, 1',
          'API-Version: "x',
          'Accept: application/vnd.acme.v2+json',
          'Accept: application/problem+json',
          'Content-Type: application/vnd.acme.v7+json',
          'Authorization: Bearer a.b.c',
          'Authorization: Basic eDp5',
          'Host: other.example.com',
          'Origin: https://app.example.com',
        ),
        { maxLength: 3 },
      ),
    },
  ),
  as: fc.constantFrom(undefined, 'acme'),
  scopes: fc.constantFrom(undefined, []),
});

describe('response fields', () => {
  it('are valid by RFC 9110, RFC 8288 and RFC 9651 for any valid policy', async () => {
    await using files = await workspace({});
    let valid = 0;
    let lifecycle = 0;
    const property = fc.asyncProperty(policy, request, instant, async (drawn, requested, { of, after }) => {
      await files.write('policies/orders.yaml', JSON.stringify(drawn));
      const { v1 } = drawn.versions;
      const now = Date.parse({ sunset: '2029-01-01', ...v1 }[of]) + after;
      const { method, path, search, headers, as, scopes } = requested;
      const options = { headers, as, scopes, format: 'json', now, today: now } as const;
      const { exitCode, text: output } = await explain(files, `${method} ${path}${search}`, options);
      if (exitCode !== 0) return;
      valid += 1;
      const { answer } = JSON.parse(output) as { answer: { headers: Record<string, string> } };
      if (answer.headers.deprecation !== undefined) lifecycle += 1;
      const wrong = Object.entries(answer.headers).flatMap(
        ([name, value]) => fieldProblem(name, value) ?? [],
      );
      expect(wrong).toEqual([]);
      // RET-3: a redirect stays on the public authority.
      const { location } = answer.headers;
      if (location !== undefined) expect(new URL(location).origin).toBe('https://api.example.com');
    });
    await fc.assert(property, { numRuns: 250 });
    // Enough samples must be valid, or the property proves nothing.
    expect(valid).toBeGreaterThan(100);
    expect(lifecycle).toBeGreaterThan(15);
  });
});

describe('the parsers of this test', () => {
  it.each([
    ['link', '<https://a.example/>; rel="x" rel="y"'],
    ['link', '<https://a.example/>; title="x"'],
    ['link', '<https://a.example/a b>; rel="x"'],
    ['link', '<https://a.example/"><x>; rel="x"'],
    ['link', '<https://a.example/%zz>; rel="x"'],
    ['link', '<https://a.example/{x}>; rel="x"'],
    ['link', '<https://a.example/>; rel="x",'],
    ['link', '</relative>; rel="x"'],
    ['sunset', 'Mon, 1 Jun 2026 00:00:00 GMT'],
    ['sunset', 'Sun, 01 Jun 2026 00:00:00 GMT'],
    ['sunset', '2026-06-01'],
    ['deprecation', '@1.5'],
    ['deprecation', '"@1"'],
    ['deprecation', '@1, @2'],
    ['deprecation', '@1;x=1'],
    ['warning', '299 "text"'],
    ['warning', '299 - "a"b"'],
    ['warning', '299 - "text" "Mon, 01 Jun 2026 00:00:00 GMT"'],
    ['ratelimit', 'default;r=1'.replace('default', '"default')],
    ['x-unknown', '1'],
  ])('refuse %s: %s', (name, value) => {
    expect(fieldProblem(name, value)).toBeDefined();
  });

  it('accept the examples of the standards', () => {
    expect(fieldProblem('deprecation', '@1688169599')).toBeUndefined();
    expect(isHttpDate('Mon, 01 Jun 2026 00:00:00 GMT')).toBe(true);
    const links = parseLinks('<https://a/?x=1,2>; rel="deprecation"; title="a, b"');
    expect(links.map(({ target, parameters }) => [target, parameters.get('title')])).toEqual([
      ['https://a/?x=1,2', 'a, b'],
    ]);
  });
});
