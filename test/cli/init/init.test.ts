// `sundial init`: a first policy that passes `check` for every description, and refusals to write.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../../gateway/cli/check/check.ts';
import { type InitOptions, runInit } from '../../../gateway/cli/init/init.ts';
import { GATEWAY, NOW, ORDERS, type Workspace, workspace } from '../../plan/workspace.ts';
import { anyCharacter } from '../../support/any-text.ts';
import { operate } from '../../support/command.ts';

const options = (files: Workspace) => ({
  configFile: files.configFile,
  cwd: files.folder,
  environment: {},
  now: NOW,
  colour: false,
});

const init = (files: Workspace, more: Partial<InitOptions> = {}) =>
  runInit({ ...options(files), service: undefined, from: 'api/described.yaml', out: undefined, ...more });

const check = (files: Workspace) => runCheck({ ...options(files), files: [], format: 'text', strict: false });

const policyIn = (files: Workspace, name: string) =>
  readFile(join(files.folder, `policies/${name}.yaml`), 'utf8');

const SHIPMENTS = `openapi: 3.1.0
info:
  title: Shipments API
  version: 2.3.0
  x-lifecycle:
    deprecation: { announced: "2026-01-15", sunset: "2027-01-15" }
    migration-guide: https://docs.example.com/shipments/v3
servers: [{ url: http://127.0.0.1:4321/api/v2 }]
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
paths:
  /shipments: { get: { x-lifecycle: { introduced: "2024-03-01" } } }
  /shipments/{shipment-id}:
    get:
      deprecated: true
      x-lifecycle: { status: deprecated, deprecation-date: "2025-10-01", sunset-date: "2026-12-15", replacement: "/shipments" }
  /shipments/open: { get: {} }
`;

describe('sundial init', () => {
  it('writes what the description says, and comments everything else', async () => {
    await using files = await workspace({ 'api/described.yaml': SHIPMENTS });
    const { exitCode, text } = await init(files);
    expect(exitCode).toBe(0);
    expect(text).toMatch(/policies\/shipments.yaml is written: shipments v2.\n$/);
    expect(
      await policyIn(files, 'shipments'),
    ).toBe(`# A first policy for Shipments API, made from its OpenAPI description. Read it, then run \`sundial check\`.
api: shipments # in metrics and answers
base: /api/shipments # the path for clients, without the version

# The version is read from each place; requests with two different versions are refused.
resolve:
  - path: /api/{version}/shipments # from the description
  - header: API-Version
  - default: v2 # for requests without a version, which work as before

# The description requires tokens. Every token of this identity is accepted until you list scopes: { read: […], write: […] }.
access: { identity: main, scopes: any }
# No limit until you set one: limits: { rate: 600/1m, by: address }

# /api/v2/shipments: the path of the service. http://127.0.0.1:4321: from servers.
upstreams:
  v2: { targets: ["http://127.0.0.1:4321"], path: /api/v2/shipments }

versions:
  v2: # from its path
    released: 2024-03-01 # the earliest \`introduced\` of the description
    deprecated: 2026-01-15 # from this day on, responses have a Deprecation header
    sunset: 2027-01-15 # from this day on, the version answers 410
    guide: https://docs.example.com/shipments/v3
    # The gateway also reads this description. It adds values that this file lacks, and must not contradict it.
    openapi: ../api/described.yaml
    operations: # from the description; all others follow the version
      GET /{shipment_id}: { deprecated: 2025-10-01, sunset: 2026-12-15, successor: "GET /" }
      GET /open: {} # without the rules of the wider operation that also matches

# \`check\` applies the policy to each request on its day and reports differences.
expect:
  - { request: GET /api/shipments, at: 2026-11-20, version: v2 }
`);
    const checked = await check(files);
    expect(checked.exitCode).toBe(0);
    expect(checked.text).not.toContain('description-');
  });

  it('works for a nearly empty description', async () => {
    await using files = await workspace({ 'api/described.yaml': '{"openapi":"3.0.0","info":{},"paths":{}}' });
    expect(await init(files)).toEqual({ exitCode: 0, text: 'policies/api.yaml is written: api v1.\n' });
    const text = await policyIn(files, 'api');
    expect(text).toContain('released: 2026-11-20 # not in the description');
    expect(text).toContain('# The description requires no token.\naccess: public\n');
    expect(text).toContain(
      'http://127.0.0.1:8081: a placeholder: servers names no address behind the gateway.',
    );
    expect(await check(files)).toMatchObject({ exitCode: 0, text: expect.stringContaining('no problems') });
  });

  it('does not use the address of the gateway as a target', async () => {
    const text = SHIPMENTS.replace('http://127.0.0.1:4321/api/v2', 'https://api.example.com/api/v2');
    await using files = await workspace({ 'api/described.yaml': text });
    expect((await init(files)).exitCode).toBe(0);
    expect(await policyIn(files, 'shipments')).toContain(
      'targets: ["http://127.0.0.1:8081"], path: /api/v2/shipments',
    );
  });

  it('makes the API public if the gateway file has no identity, and says so', async () => {
    const gateway =
      'public: https://api.example.com\nlisteners: { https: { address: ":8443" } }\npolicies: ../policies/*.yaml\n';
    await using files = await workspace({ 'api/described.yaml': SHIPMENTS, 'config/gateway.yaml': gateway });
    expect((await init(files)).exitCode).toBe(0);
    expect(await policyIn(files, 'shipments')).toContain(
      'has no identity to verify them. Your service still gets them.',
    );
  });

  it('works without a gateway file, and says that no gateway reads the policy', async () => {
    await using files = await workspace({ 'api/described.yaml': SHIPMENTS });
    const { exitCode, text } = await init(files, { configFile: 'none.yaml', out: 'new/shipments.yaml' });
    expect(exitCode).toBe(0);
    expect(text).toMatch(
      /new\/shipments.yaml is written: shipments v2.\nNo gateway reads it yet: none.yaml does not look for policies there.\n$/,
    );
    expect(existsSync(join(files.folder, 'new/shipments.yaml'))).toBe(true);
  });
});

describe('sundial init --service', () => {
  const service = 'http://127.0.0.1:3000';

  it('writes a valid gateway file and policy into an empty folder', async () => {
    await using files = await workspace({});
    await files.remove('config/gateway.yaml');
    expect(await init(files, { service, from: undefined })).toEqual({
      exitCode: 0,
      text:
        'policies/api.yaml is written: api v1.\n' +
        'config/gateway.yaml is written. Start the gateway with `sundial run`.\n',
    });
    expect(
      await policyIn(files, 'api'),
    ).toBe(`# A first policy for the service. Read it, then run \`sundial check\`.
api: api # in metrics and answers
base: / # every path; a narrower one leaves room for further policies

# The version is read from each place; requests with two different versions are refused.
resolve:
  - header: API-Version
  - default: v1 # for requests without a version, which work as before

# The gateway checks no tokens. Your service gets the tokens that callers send.
access: public
# No limit until you set one: limits: { rate: 600/1m, by: address }

# /: the path of the service. http://127.0.0.1:3000: from --service.
upstreams:
  v1: { targets: ["http://127.0.0.1:3000"], path: / }

versions:
  v1: # the version that the service has today
    released: 2026-11-20 # today
    # This version has no end yet. Later, add deprecated, sunset, successor and guide here.

# \`check\` applies the policy to each request on its day and reports differences.
expect:
  - { request: GET /, at: 2026-11-20, version: v1, stage: active }
`);
    expect(await check(files)).toMatchObject({ exitCode: 0, text: expect.stringContaining('no problems') });
  });

  it('keeps an existing gateway file, and takes the path from the description', async () => {
    await using files = await workspace({ 'api/described.yaml': SHIPMENTS });
    expect(await init(files, { service })).toEqual({
      exitCode: 0,
      text: expect.stringMatching(/policies\/shipments.yaml is written: shipments v2.\n$/),
    });
    expect(await readFile(files.configFile, 'utf8')).toBe(GATEWAY);
    expect(await policyIn(files, 'shipments')).toContain(`targets: ["${service}"], path: /api/v2/shipments`);
    expect((await check(files)).exitCode).toBe(0);
  });

  it('writes no file if the service has the address of the gateway', async () => {
    await using files = await workspace({});
    await files.remove('config/gateway.yaml');
    const { exitCode } = await init(files, { service: 'https://127.0.0.1:8443', from: undefined });
    expect(exitCode).toBe(1);
    expect(existsSync(files.configFile)).toBe(false);
    expect(existsSync(join(files.folder, 'policies/api.yaml'))).toBe(false);
  });

  it.each([
    [['init'], 'name the service with --service, its description with --from, or both'],
    [['init', '--service', '127.0.0.1:3000'], 'Not a URL such as http://127.0.0.1:3000.'],
  ])('is wrong usage as %j', async (words, message) => {
    expect(await operate(words)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
  });
});

describe('nothing is written', () => {
  it('over an existing file', async () => {
    await using files = await workspace({
      'api/described.yaml': SHIPMENTS,
      'policies/shipments.yaml': 'mine',
    });
    expect(await init(files)).toEqual({
      exitCode: 2,
      text: 'sundial: policies/shipments.yaml is there already; name another with --out\n',
    });
    expect(await policyIn(files, 'shipments')).toBe('mine');
  });

  it('if a policy already has the API', async () => {
    await using files = await workspace({
      'api/described.yaml': SHIPMENTS.replace('Shipments', 'Orders'),
      'policies/orders.yaml': ORDERS,
    });
    const { exitCode, text } = await init(files, { out: 'policies/more.yaml' });
    expect(exitCode).toBe(1);
    expect(text).toContain('the API "orders" is already described in policies/orders.yaml');
    expect(text).toMatch(/Nothing is written.\n$/);
    expect(existsSync(join(files.folder, 'policies/more.yaml'))).toBe(false);
  });

  it('from a description that contradicts itself', async () => {
    const text = SHIPMENTS.replace('status: deprecated', 'status: stable');
    await using files = await workspace({ 'api/described.yaml': text });
    expect(await init(files)).toMatchObject({
      exitCode: 1,
      text: expect.stringContaining('[description-status]'),
    });
    expect(existsSync(join(files.folder, 'policies/shipments.yaml'))).toBe(false);
  });

  it.each([
    ['swagger: "2.0"\n', 'a Swagger 2.0 description: convert it to OpenAPI 3.0, 3.1 or 3.2'],
    ['a: [\n', 'api/described.yaml:2:1: error: '],
  ])('from %j', async (text, message) => {
    await using files = await workspace({ 'api/described.yaml': text });
    expect(await init(files)).toMatchObject({ exitCode: 2, text: expect.stringContaining(message) });
  });

  it('from a missing file', async () => {
    await using files = await workspace({});
    expect(await init(files)).toEqual({
      exitCode: 2,
      text: 'sundial: cannot read api/described.yaml: no such file\n',
    });
  });
});

describe('any description', () => {
  const odd = fc.constantFrom(
    'a',
    'v2',
    '{id}',
    '{Order-ID}',
    '{2}',
    '{a}.json',
    'x:y',
    'a b',
    '%41',
    '.well-known',
    '..',
    'é',
    '#',
    '',
  );
  const path = fc.array(odd, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
  const date = fc.constantFrom('2024-06-01', '2025-01-01', '2026-01-15');
  const end = fc.constantFrom('2027-06-01', '2028-01-01');
  const operation = fc.record(
    {
      deprecated: fc.boolean(),
      summary: fc.string(),
      'x-lifecycle': fc.record(
        {
          introduced: fc.constant('2023-01-01'),
          'deprecation-date': date,
          'sunset-date': end,
          replacement: path,
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  const method = fc.constantFrom('get', 'post', 'head', 'trace', 'query', 'parameters');
  const document = fc.record(
    {
      openapi: fc.constantFrom('3.0.3', '3.1.1', '3.2.0'),
      info: fc.record(
        {
          title: fc.oneof(
            fc.string({ unit: anyCharacter }),
            fc.constantFrom('Orders API', '42', 'null', "it's: #1"),
          ),
          version: fc.oneof(fc.string(), fc.constantFrom('1.0', 'v12', '2026-01-15', '99999.1')),
          'x-lifecycle': fc.record(
            {
              stage: fc.constantFrom('stable', 'deprecated'),
              deprecation: fc.record({
                announced: fc.option(date),
                sunset: fc.constantFrom(null, '2029-01-01'),
              }),
              'migration-guide': fc.constantFrom(
                'https://docs.example.com/a?b=c',
                'http://example.com',
                './x.md',
                'no url',
              ),
            },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      servers: fc.array(
        fc.record({
          url: fc.constantFrom(
            '/',
            '/v3',
            'https://api.example.com/v1',
            'http://127.0.0.1:8443/x',
            'http://10.0.0.1:81/api/v2/',
            '{scheme}://x',
            'ftp://x',
            '../y',
          ),
        }),
        { maxLength: 2 },
      ),
      components: fc.record({
        securitySchemes: fc.dictionary(
          fc.constant('a'),
          fc.record({
            type: fc.constantFrom('http', 'oauth2', 'apiKey'),
            scheme: fc.constantFrom('Bearer', 'basic'),
          }),
        ),
      }),
      paths: fc.dictionary(path, fc.dictionary(method, operation, { maxKeys: 3 }), { maxKeys: 5 }),
    },
    { requiredKeys: ['openapi', 'info', 'paths'] },
  );

  it('without contradictions gives a policy that passes check', async () => {
    let written = 0;
    await fc.assert(
      fc.asyncProperty(document, async (value) => {
        await using files = await workspace({ 'api/described.yaml': JSON.stringify(value) });
        const { exitCode, text } = await init(files, { out: 'policies/first.yaml' });
        if (exitCode === 0) {
          written += 1;
          expect((await check(files)).exitCode).toBe(0);
          return;
        }
        // The error is in the description and is reported there.
        expect(exitCode).toBe(1);
        expect(text).toMatch(/ error: .*\n/);
        expect(text).toMatch(
          /date-order|description-|is before|is after|is already given|the same requests|its own successor|capture/,
        );
      }),
      { numRuns: 60 },
    );
    expect(written).toBeGreaterThan(30);
  }, 60_000);
});
