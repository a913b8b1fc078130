// `sundial explain` for an API with pins: facts about the account, assumptions, and what comes next.
import { describe, expect, it } from 'vitest';
import type { KnownAccount } from '../../../gateway/cli/known-account.ts';
import { workspace } from '../../plan/workspace.ts';
import { explain } from '../../support/file-commands.ts';

const PAYMENTS = `api: payments
base: /api/payments
resolve: [ { header: API-Version }, { pin: { by: account_id, created: account_created } } ]
access: { identity: main, scopes: any }
upstreams:
  2024-09-01: { targets: [http://127.0.0.1:4001] }
  2026-06-01: { targets: [http://127.0.0.1:4001] }
  2027-06-01: { targets: [http://127.0.0.1:4001] }
versions:
  2024-09-01: { released: 2024-09-01, deprecated: 2026-06-01, sunset: 2027-09-01, guide: https://docs.example.com/2026 }
  2026-06-01: { released: 2026-06-01 }
  2027-06-01: { released: 2027-06-01 }
`;
const FIRST_CALLS = PAYMENTS.replace('payments', 'transfers')
  .replaceAll('/api/payments', '/api/transfers')
  .replace('{ by: account_id, created: account_created }', '{}');

async function explained(
  request: string,
  account?: KnownAccount,
  headers: readonly string[] = [],
  transfers = FIRST_CALLS,
) {
  await using files = await workspace({
    'policies/payments.yaml': PAYMENTS,
    'policies/transfers.yaml': transfers,
  });
  const { exitCode, text } = await explain(files, request, {
    headers,
    as: 'acme',
    ...(account && { account }),
  });
  expect(exitCode, text).toBe(0);
  return text;
}

/** With single spaces. */
const lineOf = (text: string, step: string) =>
  text
    .split('\n')
    .find((line) => line.startsWith(`${step} `))
    ?.replace(/ {2,}/g, ' ');

/** The lines about later changes, with single spaces. */
const changesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^(next| {4}) {6}\d{4}-/.test(line))
    .map((line) => line.slice(10).replace(/ {2,}/g, ' '));

describe('explain of an API with pins', () => {
  it.each<[string, KnownAccount | undefined, string]>([
    [
      'no known facts',
      undefined,
      '2026-06-01 the first call of the account (assumed: no pin is stored, no day in the token)',
    ],
    [
      'a creation day',
      { created: '2025-03-14' },
      '2024-09-01 the account was made on 2025-03-14 (assumed: no pin is stored)',
    ],
    ['a pin', { pin: '2026-06-01' }, '2026-06-01 the pin of the account'],
    [
      'a pin and a creation day',
      { pin: '2026-06-01', created: '2025-03-14' },
      '2026-06-01 the pin of the account',
    ],
  ])('shows the version of an account with %s', async (_name, account, expected) => {
    const text = await explained('GET /api/payments', account);
    expect(lineOf(text, 'version')).toBe(`version ${expected} policies/payments.yaml:3`);
    expect(text).toContain('  cache-control: private\n');
  });

  it('STAT-1: a pin on a forgotten version is refused at the line of that version', async () => {
    const forgotten = FIRST_CALLS.replace('sunset: 2027-09-01', 'sunset: 2026-07-01, forgotten: 2026-10-01');
    const text = await explained('GET /api/transfers', { pin: '2024-09-01' }, [], forgotten);
    expect(lineOf(text, 'refused')).toBe(
      'refused version_unknown 2024-09-01 forgotten since 2026-10-01 policies/transfers.yaml:10',
    );
  });

  it('says that the first call counts if the API reads no creation day', async () => {
    expect(lineOf(await explained('GET /api/transfers', { created: '2025-03-14' }), 'version')).toBe(
      'version 2026-06-01 the first call of the account (assumed: no pin is stored) policies/transfers.yaml:3',
    );
  });

  it('a version in a header overrides the account', async () => {
    const text = await explained('GET /api/payments', { created: '2025-03-14' }, ['API-Version: 2026-06-01']);
    expect(lineOf(text, 'version')).toBe('version 2026-06-01 from the header policies/payments.yaml:3');
    expect(text).toContain('  cache-control: private\n');
  });

  it('a newer version is not a next change, because the pin stays on its version', async () => {
    expect(await explained('GET /api/transfers')).not.toContain('\nnext');
    expect(lineOf(await explained('GET /api/payments', { created: '2025-03-14' }), 'next')).toBe(
      'next 2027-09-01 2024-09-01 retired: 410 Gone, version_retired',
    );
  });

  it('the next changes after a first call are those of the pinned version', async () => {
    const dated = FIRST_CALLS.replace(
      '2026-06-01: { released: 2026-06-01 }',
      '2026-06-01: { released: 2026-06-01, deprecated: 2027-06-01, sunset: 2028-06-01, guide: https://docs.example.com/2027 }',
    );
    const text = await explained('GET /api/transfers', undefined, [], dated);
    expect(changesOf(text)).toEqual([
      '2027-06-01 2026-06-01 deprecated: forwarded',
      '2028-06-01 2026-06-01 retired: 410 Gone, version_retired',
    ]);
    const named = await explained('GET /api/transfers', { pin: '2026-06-01' }, [], dated);
    expect(changesOf(named)).toEqual(changesOf(text));
  });

  it('a version chosen by a future creation day is not stored and may change', async () => {
    expect(lineOf(await explained('GET /api/payments', { created: '2027-07-01' }), 'next')).toBe(
      'next 2027-06-01 2027-06-01 active: forwarded',
    );
  });

  it('a pin on an undeclared version is refused at the line of the pin', async () => {
    const text = await explained('GET /api/payments', { pin: '2020-01-01' });
    expect(lineOf(text, 'refused')).toBe('refused version_unknown policies/payments.yaml:3');
    expect(text).toContain('answer    400 Bad Request');
  });
});
