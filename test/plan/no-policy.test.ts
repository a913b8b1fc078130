// Tests that findings quote nothing of a file that is not a policy, such as a key in the policy folder.
import { expect, it } from 'vitest';
import { CANARY, said } from './canaries.ts';
import { GATEWAY, ORDERS } from './workspace.ts';

const FOREIGN: readonly (readonly [string, string])[] = [
  ['a token', CANARY],
  ['a key in PEM', `-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----\n`],
  ['an assignment', `db_password=${CANARY}\n`],
  ['a list', `- ${CANARY}\n- other\n`],
  ['a shadow file', `root:*:19000:0:99999:7:::\nbob:${CANARY}:19000:0:99999:7:::\n`],
  ['a shadow file of one line', `bob:${CANARY}:19000:0:99999:7:::\n`],
  ['keys of something else', `user: bob\nmore: { of: ${CANARY} }\n`],
  ['a name', `${CANARY}: 1\n`],
  ['JSON of something else', `{ "one": "${CANARY}" }`],
];

it.each(FOREIGN)('a finding quotes nothing of %s', async (_what, text) => {
  for (const all of [await said(text, GATEWAY), await said(ORDERS, text)]) {
    expect(all).toMatch(/error/);
    expect(all).not.toContain(CANARY);
  }
});

it('a file with one misspelt key is not a policy, and the finding says so', async () => {
  expect(await said('apis: orders\n', GATEWAY)).toContain('this file has no key of a policy or gateway file');
});
