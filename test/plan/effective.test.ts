// Tests the effective configuration: sources of values, no secrets, defaults like those of the gateway.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import {
  type EffectiveConfig,
  effectiveConfig,
  effectiveInForce,
  effectiveJson,
  effectiveYaml,
} from '../../gateway/plan/effective/effective.ts';
import { hasPlan, type LoadedPlan } from '../../gateway/plan/load.ts';
import { renderProblems } from '../../gateway/plan/problems.ts';
import { GATEWAY, NOW, ORDERS, type Workspace, workspace } from './workspace.ts';

type Files = Readonly<Record<string, string>>;

async function whole(files: Workspace, environment: Record<string, string> = {}): Promise<LoadedPlan> {
  const loaded = await files.load(environment);
  if (!hasPlan(loaded)) throw new Error(renderProblems(loaded.problems, { colour: false }));
  return loaded;
}

async function effective(
  texts: Files,
  { defaults = false, environment = {} }: { defaults?: boolean; environment?: Record<string, string> } = {},
): Promise<EffectiveConfig> {
  await using files = await workspace(texts);
  const { sources, plan } = await whole(files, environment);
  const policies = sources.policies.map(({ document }) => document);
  return effectiveConfig({ revision: plan.revision, gateway: sources.gateway, policies, defaults });
}

const SAMPLES = join(import.meta.dirname, '../../policies');
const MORE = `api: full
base: /api/full
resolve: [{ path: "/api/{version}/full" }]
access: public
limits: { rate: 10/1s, by: address }
upstreams:
  v1: { targets: [http://127.0.0.1:4001, http://127.0.0.1:4002], timeout: 3s, health: /healthz, breaker: { failures: 3 } }
  v2: { targets: [http://127.0.0.1:4003], timeout: { total: 2m }, retries: off, connections: { max: 8 } }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-06-15
    body_notice: true
    brownouts: [{ from: 2027-01-05, for: 1h, announced: 2026-01-01 }]
    operations:
      GET /search: { deprecated: 2025-12-01 }
  v2: { released: 2026-01-15 }
rules: { migration-guide: off, successor-exists: off, notice-period: error }
`;

/** The documents of `config` as files. */
function written({ documents }: EffectiveConfig): Files {
  return Object.fromEntries(documents.map(({ file, values }) => [file, JSON.stringify(values)]));
}

const UNVERSIONED = `api: hooks
base: /api/hooks
access: public
upstreams: { hooks: { targets: [http://127.0.0.1:4001] } }
versions: none
`;

describe('the defaults', () => {
  const sets: readonly (readonly [name: string, texts: Files])[] = [
    ['the least that can be written', { 'policies/orders.yaml': ORDERS }],
    ['every kind of section', { 'policies/full.yaml': MORE }],
    ['an API without versions', { 'policies/hooks.yaml': UNVERSIONED }],
    [
      'a gateway with a form of the header of its own',
      { 'config/gateway.yaml': `${GATEWAY}deprecation_header: http-date\n`, 'policies/orders.yaml': ORDERS },
    ],
  ];

  it.each(sets)('change nothing when they are written out: %s', async (_name, texts) => {
    const config = await effective(texts, { defaults: true });
    await using files = await workspace(written(config));
    await using before = await workspace(texts);
    const [one, other] = [await whole(files), await whole(before)];
    // Folders and digests differ by test; the order of keys does not matter.
    const essence = ({ settings, plan }: LoadedPlan, folder: string) =>
      JSON.parse(
        JSON.stringify({ settings, plan }, (key, value: unknown) =>
          value instanceof Map ? [...value] : key === 'revision' ? undefined : value,
        ).replaceAll(folder, ''),
      );
    expect(essence(one, files.folder)).toEqual(essence(other, before.folder));
  });

  it('cover the limits of each version, with the line of every inherited value', async () => {
    const several = MORE.replace(
      'limits: { rate: 10/1s, by: address }',
      'limits:\n  - { rate: 10/1s, burst: 30, by: address }\n  - { name: all, rate: 90/1s, by: everyone }',
    )
      .replace('    body_notice: true', '    limits: { rate: 5/1s }\n    body_notice: true')
      .replace('v2: { released: 2026-01-15 }', 'v2: { released: 2026-01-15, limits: off }');
    const config = await effective({ 'policies/full.yaml': several }, { defaults: true });
    const [, policy] = config.documents;
    expect(policy?.values).toMatchObject({ versions: { v2: { limits: 'off' } } });
    const limits = policy?.origins.filter(({ path }) => path.slice(0, 3).join('.') === 'versions.v1.limits');
    const told = limits?.map(({ path, from }) => `${path.slice(3).join('.')} ${from}`);
    expect(told?.filter((each) => !/algorithm|shadow/.test(each))).toEqual([
      ...['0.rate policies/full.yaml:16', '0.by policies/full.yaml:6'],
      ...['0.name default', '0.on_store_failure default'],
      ...['1.name policies/full.yaml:7', '1.rate policies/full.yaml:7', '1.by policies/full.yaml:7'],
      '1.on_store_failure default',
    ]);
  });

  it('are filled in for missing keys only', async () => {
    const config = await effective({ 'policies/full.yaml': MORE }, { defaults: true });
    const [, policy] = config.documents;
    expect(policy?.values).toMatchObject({
      mode: 'enforce',
      upstream_wins: false,
      locations: 'map',
      limits: { rate: '10/1s', on_store_failure: 'local' },
      upstreams: {
        // A shorthand of the section.
        v1: {
          timeout: { connect: '1s', headers: '3s', idle: '30s', total: '60s' },
          health: { path: '/healthz', every: '5s' },
          breaker: { failures: 3, open: '10s' },
          authorization: 'keep',
        },
        v2: {
          timeout: { connect: '1s', headers: '5s', idle: '30s', total: '2m' },
          retries: 'off',
          connections: { max: 8, queue: 1024 },
        },
      },
      versions: {
        v1: { body_notice: true, after: 'gone', brownouts: [{ status: 410 }] },
        v2: { body_notice: false },
      },
      rules: { 'notice-period': 'error', 'migration-guide': 'off' },
    });
    // An operation inherits from its version, and a policy from the gateway file.
    expect(policy?.values).toHaveProperty(['versions', 'v1', 'operations', 'GET /search'], {
      deprecated: '2025-12-01',
    });
    expect(policy?.values).not.toHaveProperty('deprecation_header');
    expect(policy?.values).not.toHaveProperty(['upstreams', 'v2', 'health']);
  });

  it('are left out unless requested', async () => {
    const { documents } = await effective({ 'policies/full.yaml': MORE });
    expect(documents.map(({ values }) => values)).toEqual([parse(GATEWAY), parse(MORE)]);
  });

  it('cover the sample policies', async () => {
    const texts = Object.fromEntries(
      readdirSync(SAMPLES)
        .filter((name) => name.endsWith('.yaml'))
        .map((name) => [
          `policies/${name}`,
          readFileSync(join(SAMPLES, name), 'utf8').replace(/ *(?:openapi: |guide: \.\/).*\n/g, '\n'),
        ]),
    );
    const gateway = GATEWAY.replace('main:', 'sample:');
    const config = await effective({ 'config/gateway.yaml': gateway, ...texts }, { defaults: true });
    await using files = await workspace(written(config));
    expect((await files.load()).problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

describe('the origin', () => {
  it('of every value is a line of its file or the default', async () => {
    const { documents } = await effective({ 'policies/orders.yaml': ORDERS }, { defaults: true });
    for (const { file, origins } of documents)
      for (const { from } of origins)
        expect(from).toMatch(new RegExp(`^(default|${file.replace('.', '\\.')}:\\d+)$`));
    const [, policy] = effectiveJson({ revision: '', documents }).documents as {
      origins: Record<string, string>;
    }[];
    expect(policy?.origins).toMatchObject({
      '/base': 'policies/orders.yaml:2',
      '/access/scopes/read/0': 'policies/orders.yaml:4',
      '/upstreams/v2/targets/0': 'policies/orders.yaml:7',
      '/upstreams/v2/authorization': 'default',
      '/mode': 'default',
    });
  });

  it('of an inherited value is the line of the API', async () => {
    const texts = { 'policies/orders.yaml': `${ORDERS}reason: money becomes integers\n` };
    const { documents } = await effective(texts);
    expect(documents[1]?.values).toMatchObject({ versions: { v1: { reason: 'money becomes integers' } } });
    const found = documents[1]?.origins.find(({ path }) => path.join('.') === 'versions.v1.reason');
    expect(found?.from).toBe(`policies/orders.yaml:${ORDERS.split('\n').length}`);
  });

  it('is a comment behind each value, and the YAML keeps its meaning', async () => {
    const config = await effective({ 'policies/orders.yaml': ORDERS }, { defaults: true });
    const text = effectiveYaml(config, { origin: true });
    expect(text).toContain('    authorization: keep # default\n');
    expect(text).toContain('base: /api/orders # policies/orders.yaml:2\n');
    const parsed = parseAllDocuments(text).map((document) => document.toJS());
    expect(parsed).toEqual(config.documents.map(({ values }) => values));
    expect(effectiveYaml(config, { origin: false })).not.toContain('# default');
    expect(text.split('\n')[0]).toBe(`# revision ${config.revision}`);
  });
});

describe('a secret', () => {
  const secretly = (lines: string) => ({
    'config/gateway.yaml': `${GATEWAY}${lines}`,
    'policies/orders.yaml': ORDERS,
  });
  const shown = async (lines: string, environment: Record<string, string> = {}, defaults = true) =>
    JSON.stringify(await effective(secretly(lines), { defaults, environment }));

  it.each([
    ['from a variable', `store: "\${env:STORE}"\n`, '[redacted] (from STORE)'],
    [
      'partly from a variable',
      `store: "redis://:\${env:PASSWORD}@127.0.0.1"\n`,
      '[redacted] (from PASSWORD)',
    ],
    ['in a URL', 'store: "redis://user:canary@127.0.0.1"\n', 'redis://[redacted]@127.0.0.1'],
    [
      'in a default',
      `store: "\${env:NONE:-redis://user:canary@127.0.0.1}"\n`,
      'redis://[redacted]@127.0.0.1',
    ],
  ])('%s is redacted', async (_name, lines, expected) => {
    const text = await shown(lines, { STORE: 'redis://:canary@127.0.0.1', PASSWORD: 'canary' });
    expect(text).not.toContain('canary');
    expect(text).toContain(expected);
  });

  it('with a secret name is redacted, even when written in the file', async () => {
    const gateway = GATEWAY.replace('9901" }', '9901", token: canary-canary-canary-canary-canary-canary }');
    const policy = `${ORDERS}headers: { request: { set: { X-Api-Key: canary, X-Pwd: canary, X-Session: canary, X-Jwt: canary, Authorization: Basic canary, X-Tenant: acme } } }\n`;
    const text = JSON.stringify(
      await effective({ 'config/gateway.yaml': gateway, 'policies/orders.yaml': policy }),
    );
    expect(text).not.toContain('canary');
    expect(text).toContain('"X-Tenant":"acme"');
    expect(text).toContain('"token":"[redacted]"');
  });

  it('in the query of a URL is redacted', async () => {
    expect(await shown(`data: "./x?api_key=canary&a=b"\n`)).toContain('./x?api_key=[redacted]&a=b');
  });

  it('is not the default of a variable', async () => {
    expect(await shown(`data: "\${env:NONE:-./elsewhere}"\n`)).toContain('./elsewhere');
    expect(await shown(`data: "\${env:SET:-./elsewhere}"\n`, { SET: './canary' })).not.toContain('canary');
  });
});

it('the effective configuration is built in short slices, so that requests do not wait', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `p${index}`);
  const texts = names.map((name) => [
    `policies/${name}.yaml`,
    ORDERS.replace('api: orders', `api: ${name}`).replaceAll('/api/', `/${name}/`),
  ]);
  await using files = await workspace(Object.fromEntries(texts));
  const { sources, plan, policies } = await whole(files);
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  }, 1);
  const inForce = { revision: plan.revision, gateway: sources.gateway, files: policies.files };
  const { documents } = await effectiveInForce(inForce, {
    configFile: files.configFile,
    environment: {},
    now: NOW,
    cwd: files.folder,
  });
  clearInterval(others);
  expect(documents).toHaveLength(sources.policies.length + 1);
  expect(turns).toBeGreaterThanOrEqual(3);
});
