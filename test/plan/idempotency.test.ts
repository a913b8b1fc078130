// Tests what operators see of idempotency keys: findings of check, changes in diff, output of explain.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diff, explain } from '../support/file-commands.ts';
import { type Workspace, workspace } from './workspace.ts';

const api = (
  ofApi: string,
  { access = '{ identity: main, scopes: any }', version = '', operation = '' } = {},
) => `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: ${access}
${ofApi}
upstreams: { v1: { targets: [http://127.0.0.1:4001] } }
versions:
  v1: { released: 2024-06-01${version}${operation === '' ? '' : `, operations: { ${operation} }`} }
`;

const OPEN =
  'a public API identifies no caller, so every idempotency key is refused (write anonymous: address)';
const KEYS = 'idempotency: { keep: 12h }';

describe('check', () => {
  it.each<[string, Parameters<typeof api>, readonly string[]]>([
    ['keys of identified callers', [KEYS], []],
    ['keys of anonymous callers', [KEYS, { access: 'public' }], [`:5 «idempotency» warning: ${OPEN}`]],
    ['keys by address', ['idempotency: { anonymous: address }', { access: 'public' }], []],
    [
      'keys of anonymous callers of a version',
      ['', { access: 'public', version: ', idempotency: {}' }],
      [`:8 «idempotency» warning: ${OPEN}`],
    ],
    [
      'keys of anonymous callers of an operation',
      [KEYS, { operation: 'POST /a: { access: public, idempotency: { required: true } }' }],
      [`:8 «idempotency» warning: ${OPEN}`],
    ],
    ['an operation without keys', [KEYS, { operation: 'GET /a: { idempotency: "off" }' }], []],
    [
      'an operation whose method has no keys',
      [KEYS, { operation: 'GET /a: { idempotency: { required: true } }' }],
      [':8 «idempotency» warning: idempotency has no effect for GET: its methods are POST, PUT (remove it)'],
    ],
    [
      'an operation with its own keys',
      [KEYS, { operation: 'PATCH /a: { idempotency: { methods: [PATCH] } }' }],
      [],
    ],
    [
      'a misspelled key',
      ['idempotency: { requird: true }'],
      [expect.stringMatching(/^:5 «requird» error: .*required/)],
    ],
  ])('%s', async (_what, written, problems) => {
    await using files = await workspace({ 'policies/api.yaml': api(...written) });
    const said = await files.problems();
    expect(said.map((problem) => problem.replace('policies/api.yaml', ''))).toEqual(problems);
  });
});

describe('diff', () => {
  it.each([
    ['', KEYS, ['orders: idempotency POST, PUT added', 'orders: idempotency keep 12 hours added']],
    [
      KEYS,
      'idempotency: { required: true }',
      ['orders: idempotency keep 12 hours removed', 'orders: idempotency required true added'],
    ],
    [KEYS, 'idempotency: { methods: [PUT, POST], keep: 12h, unknown: hold, max_body: 1MB }', []],
    [
      KEYS,
      'idempotency: { keep: 12h, methods: [PATCH], max_body: 2KB }',
      ['orders: idempotency POST, PUT -> PATCH', 'orders: idempotency max_body 2048 bytes added'],
    ],
  ])('from %j to %j', async (before, after, changes) => {
    await using files = await workspace({ 'old.yaml': api(before), 'new.yaml': api(after) });
    const { text } = await diff(files);
    expect(
      text
        .split('\n')
        .filter((line) => line.startsWith('orders'))
        .sort(),
    ).toEqual(changes.toSorted());
  });
});

describe('explain', () => {
  let files: Workspace;
  beforeAll(async () => {
    const operation = 'POST /must: { idempotency: { required: true } }, POST /off: { idempotency: "off" }';
    files = await workspace({ 'policies/api.yaml': api('idempotency: { max_body: 1KB }', { operation }) });
  });
  afterAll(() => files[Symbol.asyncDispose]());

  it.each([
    [
      'POST /api/v1/orders',
      ['Idempotency-Key: "abc"'],
      /^key +new +an outcome is kept for 1 day \(assumed: .*api\.yaml:5$/m,
    ],
    ['POST /api/v1/orders', [], /^key +none /m],
    [
      'POST /api/v1/orders',
      ['Idempotency-Key: a', 'Content-Length: 9999'],
      /^key +unprotected +its body is larger than 1024/m,
    ],
    ['POST /api/v1/orders', ['Idempotency-Key: a b'], /^refused +idempotency_key_malformed +.*api\.yaml:5$/m],
    ['POST /api/v1/orders/must', [], /^refused +idempotency_key_missing +.*api\.yaml:8$/m],
  ])('%s with %j', async (request, headers, row) => {
    expect(await explained(request, headers)).toMatch(row);
  });

  it.each(['GET /api/v1/orders', 'POST /api/v1/orders/off'])(
    'does not mention keys for %s',
    async (request) => {
      const text = await explained(request, ['Idempotency-Key: abc']);
      expect(text).toMatch(/^forward /m);
      expect(text).not.toMatch(/^key /m);
    },
  );

  async function explained(request: string, headers: readonly string[]): Promise<string> {
    return (await explain(files, request, { headers, as: 'acme' })).text;
  }
});
