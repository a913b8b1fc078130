// Tests that guides, descriptions and secrets are not read through links that leave their folder.
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ORDERS, type Workspace, workspace } from './workspace.ts';

const OUTSIDE = '# hunter2 of the machine\n';

const KINDS = {
  guide: {
    file: 'v2.md',
    policy: (path: string) => ORDERS.replace('https://docs.example.com/v2', path),
    text: '# To v2\n',
    refusal: 'the guide is a link that leads out of its folder',
  },
  description: {
    file: 'v2.openapi.yaml',
    policy: (path: string) =>
      ORDERS.replace('v2: { released: 2026-01-15', `v2: { released: 2026-01-15, openapi: ${path}`),
    text: 'openapi: 3.1.0\ninfo: { title: Orders, version: "2" }\npaths: {}\n',
    refusal: 'the description is a link that leads out of its folder',
  },
  secret: {
    file: 'key',
    policy: (path: string) => `${ORDERS}headers: { request: { set: { X-Key: "\${file:${path}}" } } }\n`,
    text: 'sesame',
    refusal: 'is a link that leads out of its folder',
  },
} as const;

const link = async (files: Workspace, path: string, target: string): Promise<void> => {
  await mkdir(dirname(join(files.folder, path)), { recursive: true });
  await symlink(target, join(files.folder, path));
};

describe.each(Object.entries(KINDS))('a %s', (_kind, { file, policy, text, refusal }) => {
  const refused = async (path: string, links: readonly (readonly [path: string, target: string])[]) => {
    await using files = await workspace({
      'policies/orders.yaml': policy(path),
      [`machine/secrets/${file}`]: OUTSIDE,
      [`machine/${file}`]: OUTSIDE,
    });
    for (const [from, to] of links) await link(files, from, to);
    const { problems } = await files.load();
    expect(JSON.stringify(problems)).not.toContain('hunter2');
    expect(problems.map(({ message }) => message).join()).toContain(refusal);
    expect(problems.map(({ hint }) => hint).join()).toContain('write the path that the link leads to');
  };

  it('is not read through a link that leads out of its folder', () =>
    refused(`./own/${file}`, [[`policies/own/${file}`, `../../machine/secrets/${file}`]]));
  it('is not read through two such links in a row', () =>
    refused(`./own/${file}`, [
      [`policies/own/${file}`, 'next'],
      ['policies/own/next', `../../machine/${file}`],
    ]));
  it('is not read through a folder that is a link', () =>
    refused(`./own/${file}`, [['policies/own', '../machine/secrets']]));

  it('is read directly, and through links within its folder, as in a mounted ConfigMap', async () => {
    await using files = await workspace({
      'policies/orders.yaml': policy(`./own/${file}`),
      [`policies/own/..2026_11_20/${file}`]: text,
    });
    await link(files, 'policies/own/..data', '..2026_11_20');
    await link(files, `policies/own/${file}`, `..data/${file}`);
    expect(await files.problems()).toEqual([]);
    await files.write('policies/orders.yaml', policy(`../api/${file}`));
    await files.write(`api/real/${file}`, text);
    await link(files, `api/${file}`, `real/${file}`);
    expect(await files.problems()).toEqual([]);
  });

  it('may be a link into a sibling folder if its path begins with ../', async () => {
    await using files = await workspace({
      'policies/orders.yaml': policy(`../api/${file}`),
      [`docs/${file}`]: text,
    });
    await link(files, `api/${file}`, `../docs/${file}`);
    expect(await files.problems()).toEqual([]);
  });
});

it('an absolute path to a secret must stay below its own folder, even if links lead there', async () => {
  await using files = await workspace({ 'machine/..data/key': 'sesame', 'elsewhere/key': 'hunter2' });
  await link(files, 'machine/key', '..data/key');
  await link(files, 'run', 'machine');
  await link(files, 'machine/stolen', '../elsewhere/key');
  const secret = KINDS.secret.policy;
  await files.write('policies/orders.yaml', secret(join(files.folder, 'run/key')));
  expect(await files.problems()).toEqual([]);
  await files.write('policies/orders.yaml', secret(join(files.folder, 'run/stolen')));
  expect((await files.problems()).join()).toContain('run/stolen is a link that leads out of its folder');
});
