// VER-5: tests which version accounts of an older policy folder have under the current files.
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check/check.ts';
import { NOW, workspace } from './workspace.ts';

const PUBLISHED = ['2024-09-01', '2025-09-15', '2026-06-01'];

/** Versions by their day, or `day=release`. */
function payments(versions: readonly string[], pin = '{ created: account_created }'): string {
  const declared = versions.map((version) => {
    const [label = '', released = label] = version.split('=');
    return `  ${label}: { released: ${released} }\n`;
  });
  const upstreams = versions.map(
    (version) => `  ${version.split('=')[0]}: { targets: [http://127.0.0.1:4001] }\n`,
  );
  return `api: payments
base: /payments
resolve: [ { header: API-Version }, { pin: ${pin} } ]
access: { identity: main, scopes: any }
upstreams:\n${upstreams.join('')}versions:\n${declared.join('')}`;
}

async function found(
  now: readonly string[],
  { before = PUBLISHED, pin = '{ created: account_created }' } = {},
) {
  await using files = await workspace({
    'policies/payments.yaml': payments(now, pin),
    'before/payments.yaml': payments(before, pin),
  });
  const { text } = await runCheck({
    configFile: files.configFile,
    files: [],
    against: 'before',
    format: 'json',
    strict: false,
    environment: {},
    now: NOW,
    colour: false,
    cwd: files.folder,
  });
  const { problems }: { problems: Record<string, string>[] } = JSON.parse(text);
  return problems
    .filter(({ rule }) => rule === 'pins-rewritten')
    .map(({ severity, message }) => `${severity}: ${message}`);
}

describe('VER-5: pins-rewritten', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['no change', PUBLISHED, []],
    ['a planned version', [...PUBLISHED, '2026-12-01'], []],
    ['a version of today', [...PUBLISHED, '2026-11-20'], []],
    [
      'a version between two',
      ['2024-09-01', '2025-03-01', '2025-09-15', '2026-06-01'],
      ['error: an account created on 2025-03-01 is on 2024-09-01 and would be moved to 2025-03-01'],
    ],
    [
      'a version older than all',
      ['2023-01-01', ...PUBLISHED],
      ['error: an account created before any version is on 2024-09-01 and would be moved to 2023-01-01'],
    ],
    [
      'a version removed between two',
      ['2024-09-01', '2026-06-01'],
      ['error: an account created on 2025-09-15 is on 2025-09-15 and would be moved to 2024-09-01'],
    ],
    [
      'the oldest version removed',
      ['2025-09-15', '2026-06-01'],
      ['error: an account created before any version is on 2024-09-01 and would be moved to 2025-09-15'],
    ],
    [
      'a version that is added a few days late moves the accounts of these days',
      [...PUBLISHED, '2026-11-15'],
      ['warning: an account created on 2026-11-15 is on 2026-06-01 and would be moved to 2026-11-15'],
    ],
    [
      'a moved release is reported by dates-rewritten instead',
      ['2024-09-01', '2025-09-15=2025-10-01', '2026-06-01'],
      [],
    ],
  ])('%s', async (_name, now, expected) => expect(await found(now)).toEqual(expected));

  it('has no finding if no day decides', async () => {
    expect(await found(['2024-09-01', '2025-03-01', '2025-09-15', '2026-06-01'], { pin: '{}' })).toEqual([]);
  });

  it('match: exact: only the accounts of that day move', async () => {
    const pin = '{ created: account_created, match: exact }';
    expect(await found(['2024-09-01', '2025-03-01', '2025-09-15', '2026-06-01'], { pin })).toEqual([
      'error: an account created on 2025-03-01 is on the default and would be moved to 2025-03-01',
    ]);
    expect(await found(['2024-09-01', '2026-06-01'], { pin })).toEqual([
      'error: an account created on 2025-09-15 is on 2025-09-15 and would be moved to the default',
    ]);
  });

  it('the first policy of an API moves no accounts', async () => {
    expect(await found(PUBLISHED, { before: ['2026-12-01'] })).toEqual([]);
  });
});
