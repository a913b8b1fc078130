// Starts and reloads whose record lacks an API: a refused file with unknown routes may be the file of that API.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askPath, folderForEachTest, plainApi } from '../support/published-folder.ts';

const folder = folderForEachTest();

const OUT = plainApi('out', '/mono');
const SEC = plainApi('sec', '/mono/secure', '{ identity: main, scopes: any }');
const OTH = plainApi('oth', '/oth');
const BROKEN: readonly (readonly [string, string])[] = [
  ['is not YAML', SEC.replace('access', '\taccess')],
  ['is empty', ''],
  ['is two files in one', OTH + SEC],
  ['names another API and no base', plainApi('secx', '').replace('base: \n', '')],
];
const STARTS = ['accepted', 'partial'] as const;

const save = async (files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files)) await folder.save(text, name);
};
/** The status at `path`. Undefined if the start is refused. */
async function statusAt(
  path: string,
  environment: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const started = await folder.start(environment).catch((error: Error) => {
    expect(error.message).toContain('error: ');
  });
  if (started === undefined) return undefined;
  await using gateway = started;
  return (await askPath(gateway, path)).status;
}
const secured = (environment: Readonly<Record<string, string>>) => statusAt('/mono/secure/x', environment);

describe.each(STARTS)('with start: %s', (START) => {
  it('a file without a record, even with a recorded name, never opens a protected route', async () => {
    const environment = { START, ...(await folder.storeOf(true)) };
    await save({ '01.yaml': OUT, '02.yaml': SEC, '03.yaml': OTH });
    expect(await secured(environment)).toBe(401);
    for (const [name, text] of BROKEN) {
      await folder.remove('03.yaml');
      await save({ '02.yaml': OTH });
      await folder.publish(environment);
      await save({ '02.yaml': text, '03.yaml': OTH });
      expect([undefined, 401, 503], name).toContain(await secured(environment));
    }
  });

  it('a broken file beside a replaced one never opens a protected route', async () => {
    const environment = { START, ...(await folder.storeOf(true)) };
    await save({ 'out.yaml': OUT });
    await folder.publish(environment);
    await save({ 'out.yaml': `${OUT}# newer\n` });
    await folder.publish(environment);
    await save({ 'out.yaml': OUT, 'sec.yaml': SEC });
    expect(await secured(environment)).toBe(401);
    await save({ 'sec.yaml': SEC.replace('access', '\taccess') });
    expect([undefined, 401, 503]).toContain(await secured(environment));
  });

  it('routes that a refused file adds to those of its accepted form are closed', async () => {
    await save({ 'out.yaml': OUT, 'sec.yaml': SEC });
    await folder.publish({ START });
    await save({ 'sec.yaml': `${SEC.replace('/mono/secure', '/mono/new')}unknwn: 1\n` });
    await using gateway = await folder.start({ START });
    expect((await askPath(gateway, '/mono/secure/x')).status).toBe(401);
    expect((await askPath(gateway, '/mono/new/x')).status).toBe(503);
  });

  it('a reload is refused as a whole if no accepted form replaces a file', async () => {
    const environment = { START, ...(await folder.storeOf(true)) };
    await save({ 'out.yaml': OUT, 'sec.yaml': SEC });
    await folder.publish(environment);
    await save({ 'sec.yaml': SEC.replace('access', '\taccess') });
    await using gateway = await folder.start(environment);
    await mkdir(join(folder.path, 'other'));
    await save({ 'other/orders.yaml': folder.orders, 'other/out.yaml': OUT });
    await folder.publish({ ...environment, POLICIES: join(folder.path, 'other/*.yaml') });
    await save({ 'out.yaml': `${OUT}# changed\n` });
    expect(await gateway.reload()).toMatchObject({ kind: 'rejected' });
    expect((await askPath(gateway, '/mono/secure/x')).status).toBe(401);
  });
});

it('a reload after a store outage completes the record, even if no file has changed', async () => {
  const { url, port, stop } = await folder.startRedis();
  const environment = { STORE: url };
  await stop();
  await save({ 'out.yaml': OUT, 'sec.yaml': SEC });
  {
    await using gateway = await folder.start(environment);
    await folder.startRedis(port);
    await expect.poll(() => gateway.metric('sundial_store_up{store="redis"}')).toBe(1);
    expect(await gateway.reload()).toMatchObject({ kind: 'unchanged' });
  }
  await save({ 'sec.yaml': SEC.replace('access', '\taccess') });
  expect(await secured(environment)).toBe(401);
});

const VERSIONED = SEC.replace('versions: none', 'versions: { v1: { released: 2024-01-01 } }')
  .replace('{ any:', '{ v1:')
  .replace('access:', 'resolve: [{ path: "/mono/{version}/secure" }]\naccess:');

it.each([
  ['a part of a segment', '{ path: "/mono/v{version}/secure" }'],
  ['an unclosed brace', '{ path: "/mono/{version/secure" }'],
  ['no first slash', '{ path: "mono/{version}/secure" }'],
  ['a final slash', '{ path: "/mono/{version}/secure/" }'],
  ['an unknown key', '{ pth: "/mono/{version}/secure" }'],
  ['a text in the list', '"/mono/{version}/secure"'],
  ['two carriers in one', '{ query: version, path: "/mono/{version}/secure" }'],
  ['a number after it', '{ path: "/mono/{version}/secure" }, 7'],
  ['a misspelt key', '{ }]\nreslove: [{ path: "/mono/{version}/secure" }'],
  ['another place', '{ }]\nlimits: [{ resolve: [{ path: "/mono/{version}/secure" }] }'],
])(
  'at a first start with start: partial, `resolve` with %s opens no route of its file',
  async (_what, resolve) => {
    const text = VERSIONED.replace(/resolve: .*/, `resolve: [{ header: API-Version }, ${resolve}]`);
    await save({ 'out.yaml': plainApi('out', '/'), 'sec.yaml': text });
    for (const path of ['/mono/v1/secure/x', '/mono/secure/x'])
      expect([undefined, 503]).toContain(await statusAt(path, { START: 'partial' }));
  },
);

it.each(['hosts', 'Host', 'domain', 'public', 'contacts:\n  host', 'mode: enforce\nshared: { host', 'data'])(
  'at a first start with start: partial, a host under the key %j opens no route of its file',
  async (key) => {
    const host = 'orders.example.com';
    const line = `${key}: ${host}${key.includes('{') ? ' }' : ''}`;
    await save({ 'out.yaml': `${OUT}host: ${host}\n`, 'sec.yaml': `${line}\n${SEC}` });
    await expect(folder.start({ START: 'partial' })).rejects.toThrow('the routes of this file are unknown');
  },
);

it('at a first start with start: partial, a file cut inside its API name stops the start', async () => {
  await save({ 'out.yaml': OUT, 'sec.yaml': 'api: out' });
  await expect(folder.start({ START: 'partial' })).rejects.toThrow('the routes of this file are unknown');
});

const BLOCK = `api: sec
base: /mono/secure
resolve:
  - path: /mono/{version}/secure
  - header: API-Version
  - default: v1
access: { identity: main, scopes: any }
upstreams: { v1: { targets: ["\${env:ECHO}"], path: /echo } }
versions: { v1: { released: 2024-01-01 } }
`;
const [API = '', ...BELOW] = BLOCK.trimEnd().split('\n');
const ROUTES = BELOW.slice(0, 5);
const REST = BELOW.slice(5);
/** The line for which the file is refused, however much of the file is left. */
const WRONG = `headers: { request: { set: { X-Tenant: "\${env:NONE}" } } }`;

describe.each([
  ['without versions', SEC.replace('\n', `\n${WRONG}\n`).trimEnd().split('\n'), ['/mono/secure/x']],
  ['with versions', [API, WRONG, ...ROUTES, ...REST], ['/mono/v1/secure/x', '/mono/secure/x']],
  ['with versions before their carriers', [API, WRONG, ...REST, ...ROUTES], ['/mono/secure/x']],
])('at a first start with start: partial, a file %s', (_what, lines, paths) => {
  const places = lines.flatMap((line, at) => (line === WRONG ? [] : [at]));
  const statuses = async () => {
    const found: (number | undefined)[] = [];
    for (const path of paths) found.push(await statusAt(path, { START: 'partial' }));
    return found.filter((status) => status !== undefined && status !== 503);
  };
  const whole = `${lines.filter((line) => line !== WRONG).join('\n')}\n`;

  it('is protected', async () => {
    await save({ 'out.yaml': OUT, 'sec.yaml': whole });
    expect(await statuses()).toEqual(paths.map(() => 401));
  });

  it.each(places)('that is cut before its line %i opens none of its routes', async (at) => {
    await save({ 'out.yaml': OUT, 'sec.yaml': `${lines.slice(0, at).join('\n')}\n` });
    expect(await statuses()).toEqual([]);
  });

  // A list of carriers that lacks one entry is a valid list, so no reader can detect the loss.
  it.each(places.filter((at) => lines[at]?.startsWith('  - ') !== true))(
    'that lacks its line %i opens none of its routes',
    async (at) => {
      await save({ 'out.yaml': OUT, 'sec.yaml': `${lines.toSpliced(at, 1).join('\n')}\n` });
      expect(await statuses()).toEqual([]);
    },
  );
});
