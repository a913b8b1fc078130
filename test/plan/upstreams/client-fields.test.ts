// Tests the table of client fields: it is documented, lower case and without duplicates.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  CLAIMED_NAMES,
  CLAIMED_PREFIXES,
  clientField,
} from '../../../gateway/policy/headers/client-fields.ts';
import { planOf } from '../workspace.ts';

const PAGE = join(import.meta.dirname, '../../../docs/concepts/upstreams.md');

it('XFF-1: docs/concepts/upstreams.md lists each name and each prefix of the table', async () => {
  const page = (await readFile(PAGE, 'utf8')).toLowerCase();
  const listed = [...CLAIMED_NAMES, ...CLAIMED_PREFIXES.map((prefix) => `${prefix}*`)];
  expect(listed.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it('XFF-1: no prefix covers a name of the table', () => {
  const doubled = [...CLAIMED_NAMES].filter((name) =>
    CLAIMED_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  expect(doubled).toEqual([]);
  for (const name of [...CLAIMED_NAMES, ...CLAIMED_PREFIXES])
    expect(clientField(name)).toEqual({ plain: name, kind: 'claim' });
});

it.each([
  ['x_remote_user', 'claim'],
  ['x.remote~user', 'claim'],
  ['content.length', 'own'],
  ['x+http+method', 'override'],
  ['x-remote', undefined],
  ['x-hostname', undefined],
  ['x-client-version', undefined],
  ['x-original-filename', undefined],
  ['user-agent', undefined],
])('SMG-25: %s is read as services read it: %s', (name, kind) => {
  expect(clientField(name).kind).toBe(kind);
});

it('XFF-1, SMG-25: a name in a policy withholds every equivalent spelling', async () => {
  const plan = await planOf(`api: mono
base: /mono
access: public
resolve: [ { header: X-Edition }, { default: v1 } ]
headers: { request: { set: { X.Role: user }, remove: [X~Debug] } }
upstreams: { v1: { targets: [http://127.0.0.1:4001], identity_headers: { consumer: X.Caller } } }
versions: { v1: { released: 2024-06-01 } }
`);
  const withheld = plan.apiNamed('mono')?.versions.get('v1')?.upstream?.withheld;
  for (const name of ['x-edition', 'x-role', 'x-debug', 'x-caller'])
    for (const spelling of [name, name.replaceAll('-', '.'), name.replaceAll('-', '|')])
      expect(withheld?.has(clientField(spelling).plain), spelling).toBe(true);
});
