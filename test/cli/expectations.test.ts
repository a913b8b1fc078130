// The `expect` list of policy files: `check` reports each failed expectation with its place and result.
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check/check.ts';
import { NOW, workspace } from '../plan/workspace.ts';

const ORDERS = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { header: API-Version }, { default: v2 } ]
access: { identity: main, scopes: { read: any, write: [orders:write] } }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v0: { released: 2023-01-01, deprecated: 2024-06-01, sunset: 2026-02-01, after: { redirect: v2 }, guide: https://docs.example.com/v1 }
  v1: { released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-01-15, successor: v2, guide: https://docs.example.com/v2 }
  v2: { released: 2026-01-15 }
expect:
`;

/** Exit code, and each error as `line:column message`. */
async function check(...lines: readonly string[]): Promise<{ exitCode: number; errors: readonly string[] }> {
  const text = ORDERS + lines.map((line) => `  - { ${line} }\n`).join('');
  await using files = await workspace({ 'policies/orders.yaml': text });
  const { exitCode, text: json } = await runCheck({
    files: [],
    configFile: files.configFile,
    format: 'json',
    strict: false,
    environment: {},
    now: NOW,
    colour: false,
    cwd: files.folder,
  });
  const { problems }: { problems: Record<string, unknown>[] } = JSON.parse(json);
  const errors = problems.filter(({ severity }) => severity === 'error');
  return { exitCode, errors: errors.map(({ line, column, message }) => `${line}:${column} ${message}`) };
}

describe('expectations that hold', () => {
  it.each([
    'request: GET /api/v1/orders, at: 2026-11-20, version: v1, stage: deprecated',
    'request: GET /api/v1/orders, as: acme, at: 2026-11-20, version: v1, stage: deprecated',
    'request: POST /api/v2/orders, as: acme, at: 2026-11-20, version: v2',
    'request: GET /api/orders, at: 2026-11-20, version: v2, status: 401',
    'request: GET /api/orders, headers: { API-Version: "1" }, at: 2026-11-20, version: v1',
    'request: GET /api/v1/orders, at: 2027-01-14T23:59:59Z, stage: deprecated',
    'request: GET /api/v1/orders, at: 2027-01-15, stage: retired, status: 410',
    'request: GET /api/v0/orders/7?x=1, at: 2026-11-20, status: 301, location: "https://api.example.com/api/v2/orders/7?x=1"',
    'request: POST /api/v0/orders, at: 2026-11-20, status: 308',
    'request: GET /api/v9/orders, at: 2026-11-20, status: 404',
    'request: GET /nowhere, at: 2026-11-20, status: 404',
  ])('%s', async (line) => {
    expect(await check(line)).toEqual({ exitCode: 0, errors: [] });
  });
});

describe('expectations that do not hold', () => {
  it.each([
    [
      'request: GET /api/v1/orders, as: acme, at: 2026-11-20, status: 410',
      '13:70 expected status 410: the request is forwarded to orders-v1',
    ],
    [
      'request: GET /api/v1/orders, at: 2027-01-15, version: v2',
      '13:61 expected version "v2", not "v1": the request is answered 410 version_retired',
    ],
    [
      'request: GET /api/v1/orders, at: 2026-01-14, stage: deprecated',
      '13:59 expected stage "deprecated", not "active": the request is answered 401 credentials_missing',
    ],
    [
      'request: GET /api/v0/orders, at: 2026-11-20, location: "https://elsewhere.example.com/"',
      '13:62 expected location "https://elsewhere.example.com/", not "https://api.example.com/api/v2/orders": the request is answered 301 version_moved',
    ],
    [
      'request: GET /api/v9/orders, at: 2026-11-20, version: v9',
      '13:61 expected version "v9": the request is answered 404 version_unknown',
    ],
  ])('%s', async (line, error) => {
    expect(await check(line)).toEqual({ exitCode: 1, errors: [error] });
  });

  it('are all reported, each at its line', async () => {
    const wrong = 'request: GET /nowhere, at: 2026-11-20, status: 410';
    const right = 'request: GET /nowhere, at: 2026-11-20, status: 404';
    const { errors } = await check(wrong, right, wrong);
    expect(errors.map((error) => error.split(' ', 1)[0])).toEqual(['13:54', '15:54']);
  });
});

describe('invalid expectations', () => {
  it.each([
    ['request: GET /api/orders, status: 404', /"at" is missing/],
    ['request: GET /api/orders, at: 2026-11-20', /nothing is expected/],
    ['request: /api/orders, at: 2026-11-20, status: 404', /not a method and a path/],
    ['request: GET /api/orders, at: 2026-02-30, status: 404', /not a calendar date/],
    ['request: GET /api/orders, at: 2026-11-20, stage: old', /expected "planned", "active"/],
    ['request: GET /api/orders, at: 2026-11-20, status: 200', /not a status that the gateway answers with/],
    ['request: GET /api/orders, at: 2026-11-20, state: retired, status: 410', /unknown key "state"/],
  ])('%s', async (line, message) => {
    const { exitCode, errors } = await check(line);
    expect(exitCode).toBe(1);
    expect(errors.join('\n')).toMatch(message);
  });
});
