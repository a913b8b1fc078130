// Tests the `resolve` list of a policy file: accepted and refused entries, and the marked word.
import { describe, expect, it } from 'vitest';
import { ORDERS, workspace } from './workspace.ts';

const RESOLVE = 'resolve: [ { path: "/api/{version}/orders" }, { header: API-Version }, { default: v2 } ]';

async function problems(entries: string, text = ORDERS): Promise<readonly string[]> {
  await using files = await workspace({
    'policies/orders.yaml': text.replace(RESOLVE, `resolve: [ ${entries} ]`),
  });
  return await files.problems();
}

describe('the resolve list', () => {
  it.each([
    '{ query: version }',
    '{ query: api_version }',
    '{ media_type: "application/vnd.acme.{version}+json" }, { media_type: "application/vnd.acme.v{n}+xml" }',
    '{ media_type: "application/vnd.acme+json; version={n}" }',
    '{ subdomain: "{version}.api.example.com" }',
    '{ header: Acme-Version, match: exact }, { query: version }, { default: v2 }',
    '{ query: version, ignore: ["version[gte]", "version[*]", Version, ";version"] }',
  ])('accepts %s', async (entries) => {
    expect((await problems(entries)).filter((problem) => problem.includes(' error: '))).toEqual([]);
  });

  it.each([
    ['{ query: "a b" }', 'not the name of a query parameter, such as version'],
    ['{ query: "" }', 'not the name of a query parameter, such as version'],
    [
      '{ media_type: application/json }',
      'not a media type in lower case with {version} before its suffix or {n} as a parameter',
    ],
    [
      '{ media_type: "application/vnd.acme.{version}" }',
      'not a media type in lower case with {version} before its suffix or {n} as a parameter',
    ],
    [
      '{ subdomain: api.example.com }',
      'not a host in lower case whose first label is {version}, such as {version}.api.example.com',
    ],
    [
      '{ subdomain: "{version}" }',
      'not a host in lower case whose first label is {version}, such as {version}.api.example.com',
    ],
    [
      '{ subdomain: "v{version}.api.example.com" }',
      'not a host in lower case whose first label is {version}, such as {version}.api.example.com',
    ],
    ['{ query: a }, { query: b }', 'a second query'],
    [
      '{ subdomain: "{version}.a.example.com" }, { subdomain: "{version}.b.example.com" }',
      'a second subdomain',
    ],
    [
      '{ query: version, header: API-Version }',
      'each entry names exactly one of path, header, query, media_type, subdomain, pin, default',
    ],
    ['{ query: version, match: floor }', 'match is only for a header'],
    ['{ header: API-Version, match: nearest }', 'expected "exact" or "floor"'],
    ['{ header: Age }', 'not a field name that can carry a version, such as API-Version'],
    ['{ header: API-Version, ignore: ["version[]"] }', 'ignore is only for a query'],
    ['{ query: version, ignore: [] }', 'the list is empty'],
    ['{ query: version, ignore: [""] }', 'not the decoded name of a query parameter, such as version[gte]'],
    [
      '{ query: version, ignore: [version] }',
      'the parameter version carries the version: if it is ignored, every request gets the default (list only similar names, such as version[gte])',
    ],
    ['{ query: version, ignore: ["ver*"] }', 'the parameter version carries the version'],
    ['{ query: version, ignore: ["*"] }', 'the parameter version carries the version'],
  ])('refuses %s', async (entries, message) => {
    const found = await problems(entries);
    expect(found.join('\n')).toContain(' error: ');
    expect(found.join('\n')).toContain(message);
  });

  it('reports that match does nothing without date versions', async () => {
    expect(
      await problems('{ path: "/api/{version}/orders" }, { header: API-Version, match: floor }'),
    ).toEqual(['policies/orders.yaml:3 «match» warning: match has no effect, because no version is a date']);
  });

  it.each(['limit', 'filter[version]', 'versions', ';limit', 'limit[*]'])(
    'reports that ignoring %s exempts nothing',
    async (name) => {
      expect(
        await problems(`{ query: version, ignore: ["${name}"] }, { path: "/api/{version}/orders" }`),
      ).toEqual([
        `policies/orders.yaml:3 «"${name}"» warning: services do not read this parameter as version, so ignore has no effect (remove it)`,
      ]);
    },
  );

  it('NEG-5: reports that no type can be rewritten if none carries the version', async () => {
    await using files = await workspace({
      'policies/orders.yaml': `rewrite_content_type: true\n${ORDERS}`,
    });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:1 «rewrite_content_type» warning: rewrite_content_type has no effect, because no media_type carries the version',
    ]);
  });

  it.each(['403', '415', '"404"'])(
    'STAT-1: refuses %s as the status of an unknown version',
    async (status) => {
      await using files = await workspace({
        'policies/orders.yaml': `unknown_version_status: ${status}\n${ORDERS}`,
      });
      expect((await files.problems()).join('\n')).toMatch(/^policies\/orders\.yaml:1 .* error: /);
    },
  );

  it('refuses a subdomain as the only carrier if a label has dots', async () => {
    const dotted = ORDERS.replaceAll(/\bv2: \{ (released|targets)/g, 'v2.0.0: { $1').replaceAll(
      'successor: v2',
      'successor: v2.0.0',
    );
    expect((await problems('{ subdomain: "{version}.api.example.com" }', dotted)).join('\n')).toContain(
      'no subdomain can name the version v2.0.0: it has dots (add a path, or call versions v1, v2)',
    );
    expect(
      await problems('{ subdomain: "{version}.api.example.com" }, { path: "/api/{version}/orders" }', dotted),
    ).toEqual([]);
  });

  it('VER-1: refuses a label that is an invalid date', async () => {
    const days = ORDERS.replaceAll(/\bv2\b(?=: \{ (released|targets))/g, '2026-02-30').replaceAll(
      'successor: v2',
      'successor: 2026-02-30',
    );
    expect((await problems('{ header: API-Version }', days)).join('\n')).toContain(
      'not a version label: "2026-02-30"',
    );
  });

  it('gives a host with versions to one API', async () => {
    const entry = '{ subdomain: "{version}.api.example.com" }';
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace(RESOLVE, `resolve: [ ${entry} ]`),
      'policies/others.yaml': ORDERS.replace('api: orders', 'api: others\nhost: other.example.com').replace(
        RESOLVE,
        `resolve: [ ${entry} ]`,
      ),
    });
    expect((await files.problems()).join('\n')).toContain(
      'this host and path belong to the API in policies/orders.yaml',
    );
  });
});
