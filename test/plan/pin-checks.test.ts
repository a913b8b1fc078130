// Tests `pin` in the `resolve` list: accepted and refused forms, and what it compiles to.
import { describe, expect, it } from 'vitest';
import { failedExpectations } from '../../gateway/cli/expectations.ts';
import { loadAll } from '../../gateway/plan/load.ts';
import { NOW, workspace } from './workspace.ts';

const PAYMENTS = `api: payments
base: /payments
resolve: [ { header: API-Version }, { pin: { } } ]
access: { identity: main, scopes: any }
upstreams:
  2025-09-15: { targets: [http://127.0.0.1:4001] }
  2026-06-01: { targets: [http://127.0.0.1:4002] }
versions:
  2025-09-15: { released: 2025-09-15 }
  2026-06-01: { released: 2026-06-01 }
`;
const withPin = (pin: string) => PAYMENTS.replace('{ pin: { } }', pin);

async function problems(text: string): Promise<readonly string[]> {
  await using files = await workspace({ 'policies/payments.yaml': text });
  return await files.problems();
}

describe('default-served', () => {
  const rows: readonly (readonly [pin: string, found: readonly string[]])[] = [
    ['{ by: consumer }', []],
    ['{ created: account_created }', []],
    [
      '{ created: account_created, match: exact }',
      [
        'from then on an account created on a day without a version gets 410',
        'until then an account created on a day without a version gets 400',
      ],
    ],
  ];
  it.each(rows)('with pinned accounts: %s', async (pin, found) => {
    const ends = withPin(`{ pin: ${pin} }, { default: 2025-09-15 }`).replace(
      '{ released: 2025-09-15 }',
      '{ released: 2025-09-15, deprecated: 2026-01-15, sunset: 2027-01-15, guide: https://docs.example.com/v2 }',
    );
    const planned = withPin(`{ pin: ${pin} }, { default: 2026-06-01 }`).replace(
      '{ released: 2026-06-01 }',
      '{ released: 2026-12-01 }',
    );
    const said = [...(await problems(ends)), ...(await problems(planned))];
    expect(said.flatMap((each) => /(?:from|until) then .* gets \d+/.exec(each)?.[0] ?? [])).toEqual(found);
  });

  it('has no finding about an end if the API is in observe mode', async () => {
    const observed = (mode: string) =>
      problems(
        `${PAYMENTS.replace('{ pin: { } }', '{ default: 2025-09-15 }')}mode: ${mode}\n`.replace(
          '{ released: 2025-09-15 }',
          '{ released: 2025-09-15, deprecated: 2026-01-15, sunset: 2027-01-15, guide: https://docs.example.com/v2 }',
        ),
      );
    expect((await observed('observe')).filter((each) => each.includes('gets 410'))).toEqual([]);
    expect((await observed('enforce')).filter((each) => each.includes('gets 410'))).toHaveLength(1);
  });
});

describe('a pin', () => {
  it.each([
    ['{ pin: {} }', { account: undefined, created: undefined, match: 'floor' }],
    ['{ pin: { by: consumer } }', { account: undefined, created: undefined, match: 'floor' }],
    ['{ pin: { by: agent_id } }', { account: 'agent_id', created: undefined, match: 'floor' }],
    ['{ pin: { by: account_id } }', { account: 'account_id', created: undefined, match: 'floor' }],
    [
      '{ pin: { by: "https://acme.example/tenant", created: account_created, match: exact } }',
      { account: 'https://acme.example/tenant', created: 'account_created', match: 'exact' },
    ],
  ])('%s is accepted and means %j', async (pin, expected) => {
    await using files = await workspace({ 'policies/payments.yaml': withPin(pin) });
    const { plan, problems: found } = await loadAll({
      configFile: files.configFile,
      environment: {},
      now: NOW,
      cwd: files.folder,
    });
    expect(found).toEqual([]);
    expect(plan?.apis[0]?.resolution.pin).toEqual(expected);
  });

  it.each([
    ['{ pin: { by: "" } }', '3 «""» error: not the name of a claim about an account, such as account_id: ""'],
    [
      '{ pin: { by: "two words" } }',
      '3 «"two words"» error: not the name of a claim about an account, such as account_id: "two words"',
    ],
    [
      '{ pin: { by: jti } }',
      '3 «jti» error: not the name of a claim about an account, such as account_id: "jti"',
    ],
    [
      '{ pin: { created: iat } }',
      '3 «iat» error: not the name of a claim about an account, such as account_created: "iat"',
    ],
    [
      '{ pin: { created: day, match: nearest } }',
      '3 «nearest» error: expected "exact" or "floor": "nearest"',
    ],
    [
      '{ pin: { by: consumer, creatd: day } }',
      '3 «creatd» error: unknown key "creatd" (did you mean "created"?)',
    ],
    [
      '{ pin: { by: client-id } }',
      '3 «client-id» warning: not a registered claim, but similar to one: tokens without a claim of this name identify no consumer (did you mean "client_id"?)',
    ],
    ['{ pin: { by: Subject } }', '3 «Subject» warning: not a registered claim, but similar to one'],
    ['{ pin: {} }, { pin: { by: tenant } }', '3 «{ pin: { by: tenant } }» error: a second pin'],
    [
      '{ pin: { match: exact } }',
      '3 «match» warning: match has no effect without created: the first call of an account sets its pin',
    ],
  ])('%s: %s', async (pin, problem) => {
    expect((await problems(withPin(pin))).join('\n')).toContain(`policies/payments.yaml:${problem}`);
  });

  it('lists the days if none is close, and suggests one only if a single digit differs', async () => {
    const named = (day: string) => problems(withPin('{ pin: {} }, { default: '.concat(day, ' }')));
    expect(await named('2026-05-02')).toEqual([
      'policies/payments.yaml:3 «2026-05-02» error: no version is called "2026-05-02" (there are 2025-09-15, 2026-06-01)',
    ]);
    expect((await named('2026-06-02')).join()).toContain('did you mean "2026-06-01"?');
  });

  it('needs date versions', async () => {
    expect(await problems(PAYMENTS.replaceAll('2025-09-15: {', 'v1: {'))).toEqual([
      'policies/payments.yaml:3 «pin» error: accounts are pinned to dates, and the version "v1" is not a date (name versions by date, such as 2026-01-15)',
    ]);
  });

  it('needs an identity', async () => {
    expect(await problems(PAYMENTS.replace('{ identity: main, scopes: any }', 'public'))).toEqual([
      'policies/payments.yaml:3 «pin» error: a public API identifies no accounts, so pin has no effect (access: { identity: …, scopes: any })',
    ]);
  });

  it('warns that a public operation is public only for requests with a version', async () => {
    const operations = '2026-06-01, operations: { GET /status: { access: public } } }';
    expect(await problems(PAYMENTS.replace(/2026-06-01 \}\n$/, `${operations}\n`))).toEqual([
      'policies/payments.yaml:10 «public» warning: public only for requests that name the version: other requests must authenticate for the pin',
    ]);
  });

  it('does nothing in an API without versions', async () => {
    const text = `api: payments
base: /payments
resolve: [ { pin: {} } ]
access: { identity: main, scopes: any }
upstreams: { one: { targets: [http://127.0.0.1:4001] } }
versions: none
`;
    expect(await problems(text)).toEqual([
      'policies/payments.yaml:3 «resolve» error: resolve has no effect in an API with "versions: none"',
    ]);
  });
});

describe('an expectation with an account', () => {
  it.each([
    ['created: 2025-10-01', 'version: 2025-09-15', true],
    ['created: "2026-06-01T00:00:00Z"', 'version: 2026-06-01', true],
    ['pin: 2025-09-15', 'version: 2025-09-15', true],
    ['pin: 2025-09-15', 'version: 2026-06-01', false],
  ])('%s, %s passes: %s', async (account, expected, holds) => {
    const text = withPin('{ pin: { created: account_created } }');
    const expectation = `{ request: GET /payments, as: acme, ${account}, at: 2026-11-20, ${expected} }`;
    await using files = await workspace({ 'policies/payments.yaml': `${text}expect: [ ${expectation} ]\n` });
    const options = { configFile: files.configFile, environment: {}, now: NOW, cwd: files.folder };
    const loaded = await loadAll(options);
    expect(loaded.problems).toEqual([]);
    expect((await failedExpectations(loaded)).length === 0).toBe(holds);
  });

  it('with an invalid day is refused', async () => {
    const expectation = '{ request: GET /payments, created: soon, at: 2026-11-20, version: 2026-06-01 }';
    expect((await problems(`${PAYMENTS}expect: [ ${expectation} ]\n`)).join('\n')).toContain(
      '«soon» error: not a calendar date (YYYY-MM-DD) or an instant with its offset: "soon"',
    );
  });
});
