// `sundial explain` for paths that services read differently: each row names the line of its rules.
import { describe, expect, it } from 'vitest';
import { workspace } from '../../plan/workspace.ts';
import { explain } from '../../support/file-commands.ts';

const SHOP = `api: shop
base: /shop
resolve: [ { path: "/{version}/shop" } ]
access: { identity: main, scopes: { read: [shop:read], write: [shop:write] } }
upstreams: { v2: { targets: [http://127.0.0.1:4001] } }
versions:
  v2:
    released: 2026-01-15
    operations:
      "GET /export": { access: { scopes: [shop:export] } }
`;
const ADMIN = `api: shop-admin
resolve: [ { path: "/{version}/shop/admin" }, { default: v2 } ]
base: /shop/admin
access: { identity: main, scopes: { read: [shop:admin], write: [shop:admin] } }
upstreams: { v2: { targets: [http://127.0.0.1:4001] } }
rules: { nested-access: off }
versions:
  v2: { released: 2026-01-15 }
`;
const GATEWAY = `public: https://api.example.com
listeners: { https: { address: "127.0.0.1:8443" } }
identity: { main: { issuer: https://id.example.com, audience: api, jwks: https://id.example.com/keys } }
policies: ../policies/*.yaml
`;

interface Files {
  readonly shop?: string;
  readonly admin?: string | undefined;
  readonly gateway?: string;
}

interface Row {
  readonly step: string;
  readonly value: string;
  readonly detail: string;
  readonly where: string | undefined;
}

async function rowsOf(
  request: string,
  { shop = SHOP, admin = ADMIN, gateway = GATEWAY }: Files = {},
  scopes: readonly string[] = ['shop:read', 'shop:write'],
): Promise<Record<string, Row>> {
  await using files = await workspace({
    'config/gateway.yaml': gateway,
    'policies/shop.yaml': shop,
    'policies/shop-admin.yaml': admin,
  });
  const { exitCode, text } = await explain(files, request, { as: 'acme', scopes, format: 'json' });
  expect(exitCode, text).toBe(0);
  const decisions: readonly (Omit<Row, 'where'> & { origin?: { file: string; line: number } })[] =
    JSON.parse(text).decisions;
  const rows = decisions.map(({ step, value, detail, origin }) => {
    const where = origin && `${origin.file.replace('policies/', '')}:${origin.line}`;
    return [step, { step, value, detail, where }] as const;
  });
  return Object.fromEntries(rows);
}

describe('ORD-2, VER-7: explain of a path that services read in several ways', () => {
  it('names the lines of a nested API whose rules refuse', async () => {
    const rows = await rowsOf('GET /v2/shop/ADMIN/x');
    expect(rows).toMatchObject({
      api: { value: 'shop', where: 'shop.yaml:3' },
      'read as': { value: 'API shop-admin', where: 'shop-admin.yaml:3' },
      identity: { value: 'acme', where: 'shop-admin.yaml:4' },
      refused: { value: 'scope_insufficient', where: 'shop-admin.yaml:4' },
    });
  });

  it('names the operation that refuses, and its line', async () => {
    expect(await rowsOf('GET /v2/shop/EXPORT')).toMatchObject({
      'read as': { value: 'GET /export', where: 'shop.yaml:10' },
      refused: { value: 'scope_insufficient', where: 'shop.yaml:10' },
    });
  });

  it('shows the row of a nested API that refuses the version', async () => {
    const admin = ADMIN.replaceAll('v2', 'v3');
    const rows = await rowsOf('GET /v2/shop/ADMIN/x', { admin });
    expect(rows).toMatchObject({
      'read as': { value: 'API shop-admin', where: 'shop-admin.yaml:3' },
      refused: { value: 'version_unknown', where: 'shop-admin.yaml:2' },
    });
  });

  it('names the nested API of an ambiguous path, even if both APIs admit the request', async () => {
    const rows = await rowsOf('GET /v2/shop/ADMIN/x', {}, ['shop:read', 'shop:admin']);
    expect(rows).toMatchObject({
      'read as': { value: 'API shop-admin', where: 'shop-admin.yaml:3' },
      refused: {
        value: 'request_malformed',
        detail: 'a service may read the path as one of API shop-admin',
        where: 'shop-admin.yaml:3',
      },
    });
  });

  it('names the key of the API or of the gateway file that refuses an encoded slash', async () => {
    const detail = 'paths.encoded_slash is reject';
    const reject = 'paths:\n  encoded_slash: reject\n';
    const of = async (files: Files) => (await rowsOf('GET /v2/shop/items/a%2Fb', files)).refused;
    const shown = { value: 'request_malformed', detail };
    expect(await of({ shop: SHOP + reject })).toMatchObject({ ...shown, where: 'shop.yaml:12' });
    expect(await of({ shop: `${SHOP}paths: strict\n` })).toMatchObject({ ...shown, where: 'shop.yaml:11' });
    expect(await of({ gateway: GATEWAY + reject })).toMatchObject({
      ...shown,
      where: 'config/gateway.yaml:6',
    });
  });

  it('names the upstream whose path leads into that of another version', async () => {
    const shop = SHOP.replace(
      '4001] }',
      '4001], path: / }, v1: { targets: [http://127.0.0.1:4001], path: /one }',
    )
      .replace('versions:', 'versions:\n  v1: { released: 2024-01-15 }')
      .replace(/ {4}operations[\s\S]*/, '');
    expect((await rowsOf('GET /v2/shop/ONE/x', { shop })).refused).toMatchObject({
      value: 'request_malformed',
      detail: 'the service may read the path as one of another version',
      where: 'shop.yaml:5',
    });
    const api = { ...(await rowsOf('GET /v1/shop/one/x', { shop })) };
    expect(api).not.toHaveProperty('refused');
  });

  it('says why an empty segment is refused', async () => {
    const { refused } = await rowsOf('GET /v2/shop/items//7');
    expect(refused).toMatchObject({
      detail: 'an empty segment, in an API that has rules for operations',
      where: 'shop.yaml:9',
    });
    const shop = SHOP.replace(/ {4}operations[\s\S]*/, '');
    expect((await rowsOf('GET /v2/shop/items//7', { shop })).refused).toMatchObject({
      where: 'shop-admin.yaml:3',
    });
  });

  it('names the line of an operation that the path names', async () => {
    const shop = SHOP.replace('{ access', '{ deprecated: 2026-02-01, access');
    expect(await rowsOf('GET /v2/shop/export', { shop })).toMatchObject({
      operation: { value: 'GET /export', where: 'shop.yaml:10' },
    });
  });
});
