// Tests the checks of `access`: which mistakes are refused before they grant or deny access by accident.
import { describe, expect, it } from 'vitest';
import { workspace } from './workspace.ts';

const GATEWAY = `public: https://api.example.com
listeners: { http: { address: "127.0.0.1:8080" } }
identity:
  main: { issuer: https://auth.example.com, audience: api }
  keys: { header: X-API-Key }
policies: ../policies/*.yaml
`;
const policy = ({
  access = '{ identity: main, scopes: any }',
  ofVersion = '',
  more = '',
  told = '',
}) => `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: ${access}
${more}
upstreams: { v1: { targets: ["http://127.0.0.1:4001"]${told} } }
versions:
  v1: { released: 2024-06-01${ofVersion} }
`;

async function said(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using folder = await workspace(files);
  const { problems } = await folder.load();
  return problems
    .filter(({ severity }) => severity === 'error')
    .map(({ message, hint }) => message + (hint === undefined ? '' : ` (${hint})`));
}

describe('access rules', () => {
  it.each<[Parameters<typeof policy>[0], RegExp]>([
    [{ access: '{ identity: main }' }, /the key "scopes" is missing: write the scopes that callers need/],
    [{ access: '{ identity: main, scopes: { read: [] } }' }, /the list is empty.*name a scope, or write any/],
    [
      { access: '{ identity: [], scopes: any }' },
      /the list is empty.*name an identity of the gateway file, or write access: public/,
    ],
    [
      { ofVersion: ', operations: { GET /x: { access: { scopes: [] } } }' },
      /the list is empty.*name a scope, or write any/,
    ],
    [{ access: '{ identity: main, scopes: none }' }, /expected/],
    [{ access: '{ identity: [main, others], scopes: any }' }, /no identity.*others|others/],
    [{ access: '{ identity: [main, main], scopes: any }' }, /listed twice/],
    [{ ofVersion: ', access: { identity: nobody, scopes: any }' }, /nobody/],
    [{ access: 'public', ofVersion: ', access: { scopes: [a] }' }, /expected|map/],
    [
      { access: 'public', ofVersion: ', access: { scopes: any }' },
      /public API verifies no tokens.*add identity/,
    ],
    [
      { ofVersion: ', access: public, operations: { GET /x: { access: { scopes: [a] } } }' },
      /public version verifies no tokens, so scopes have no effect/,
    ],
    [
      { told: ', identity_headers: { consumer: Connection }' },
      /connection already carries connection framing \(write a field of its own, such as X-Consumer-Id\)/,
    ],
    [
      { told: ', identity_headers: { scopes: Authorization }' },
      /authorization already carries the token \(write a field of its own, such as X-Consumer-Scopes\)/,
    ],
    [{ told: ', identity_headers: { consumer: X-Forwarded-For }' }, /carries the identity or address/],
    [{ told: ', identity_headers: { consumer: X_Consumer }' }, /not a field name/],
    [{ told: ', identity_headers: { consumer: X-Who, scopes: x-who }' }, /already carries the consumer/],
    [{ told: ', identity_headers: {}' }, /name a field for consumer, scopes or both/],
    [
      {
        told: ', identity_headers: { consumer: X-Who }',
        more: 'headers: { request: { set: { X-Who: acme } } }',
      },
      /headers.request.set has x-who too/,
    ],
  ])('%j is refused', async (parts, reason) => {
    const [first, ...others] = await said({
      'config/gateway.yaml': GATEWAY,
      'policies/orders.yaml': policy(parts),
    });
    expect(first).toMatch(reason);
    expect(others).toEqual([]);
  });

  it.each([
    ...['Cookie', 'TE', 'Upgrade', 'Keep-Alive', 'Transfer-Encoding', 'Via', 'X-Request-Id', 'Traceparent'],
    ...['X-Forwarded-Host', 'Host', 'Content-Type', 'Idempotency-Key', 'API-Version', 'Sec-Fetch-Site'],
  ])('%s is refused as an identity header', async (field) => {
    const told = `, identity_headers: { consumer: ${field} }`;
    const [only, ...others] = await said({
      'config/gateway.yaml': GATEWAY,
      'policies/orders.yaml': policy({ told }),
    });
    expect(only).toMatch(/ already carries .* \(write a field of its own, such as X-Consumer-Id\)$/);
    expect(others).toEqual([]);
  });

  it.each([
    [{ access: '{ identity: main, scopes: {} }' }, ':4 «{}»'],
    [{ ofVersion: ', access: { scopes: {} }' }, ':8 «{}»'],
    // Only its operations grant access.
    [
      { access: '{ identity: main, scopes: {} }', ofVersion: ', operations: { GET /x: { access: public } }' },
      undefined,
    ],
  ])('%j: check warns if no caller has access', async (parts, place) => {
    await using folder = await workspace({
      'config/gateway.yaml': GATEWAY,
      'policies/orders.yaml': policy(parts),
    });
    const said = (await folder.problems()).filter((each) => each.startsWith('policies/'));
    const hint =
      'write scopes: any, or the scopes that reading and writing need: { read: [orders:read], write: [orders:write] }';
    const sentence = `warning: no scopes are granted: every request is refused with 403 (${hint})`;
    expect(said).toEqual(place === undefined ? [] : [`policies/orders.yaml${place} ${sentence}`]);
  });

  it.each([
    [{ access: '{ identity: [main, keys], anonymous: true, scopes: { read: any, write: [w] } }' }],
    [{ access: 'public', ofVersion: ', access: { identity: keys, scopes: any }' }],
    [{ ofVersion: ', access: { scopes: any }, operations: { GET /x: { access: { scopes: any } } }' }],
    [{ told: ', identity_headers: { consumer: X-Client-Id, scopes: X-Scopes }' }],
  ])('%j has no findings', async (parts) => {
    expect(await said({ 'config/gateway.yaml': GATEWAY, 'policies/orders.yaml': policy(parts) })).toEqual([]);
  });

  it.each<[string, RegExp]>([
    ...['Authorization', 'Cookie', 'Content-Type', 'Idempotency-Key', 'Forwarded', 'If-Match', 'X_Key'].map(
      (field): [string, RegExp] => [
        `keys: { header: ${field} }`,
        /not the name of a header that may carry keys, such as X-API-Key/,
      ],
    ),
    [
      'keys: { header: X-API-Key }\n  more: { header: x-api-key }',
      /keys already reads keys from this header/,
    ],
    ['mtls: { certificate: { consumer: cn } }', /no listener requests client certificates/],
    ['mtls: { certificate: { consumer: email } }', /expected|did you mean/],
    ['keys: { heder: X-API-Key }', /unknown key "heder" \(did you mean "header"/],
    ['main2: { issuer: https://auth.example.com, audiense: api }', /unknown key "audiense"/],
  ])('as identities, %s is refused', async (identity, reason) => {
    const gateway = GATEWAY.replace('keys: { header: X-API-Key }', identity);
    const problems = await said({ 'config/gateway.yaml': gateway, 'policies/orders.yaml': policy({}) });
    expect(problems.join('\n')).toMatch(reason);
  });
});

it('VER-4: a header cannot carry both the API key and the version', async () => {
  const text = policy({}).replace('} ]', '}, { header: X-Api-Key } ]');
  const problems = await said({ 'config/gateway.yaml': GATEWAY, 'policies/orders.yaml': text });
  expect(problems).toEqual([
    'X-Api-Key carries the API key, so it cannot carry a version (name another header)',
  ]);
});

describe('shared', () => {
  it('CACHE-3: check warns only if no caller is identified', async () => {
    const found = async (text: string) => {
      await using folder = await workspace({ 'config/gateway.yaml': GATEWAY, 'policies/orders.yaml': text });
      const { problems } = await folder.load();
      return problems
        .filter(({ message }) => message.startsWith('shared'))
        .map(({ severity, message }) => `${severity}: ${message}`);
    };
    const more = 'shared: true';
    expect(await found(policy({ access: 'public', more }))).toEqual([
      'warning: shared has no effect, because the access is public and no caller is identified',
    ]);
    expect(await found(policy({ more }))).toEqual([]);
    const ofVersion = ', access: { identity: main, scopes: any }';
    expect(await found(policy({ access: 'public', more, ofVersion }))).toEqual([]);
  });
});

it.each([
  [true, 'Authorization, X-API-Key', 'X-API-Key'],
  [false, '', ''],
])('CACHE-2: with anonymous: %s, responses vary by %j, and those of a version by %j', async (...row) => {
  const [anonymous, ofApi, ofVersion] = row;
  const access = `{ identity: [main, keys], anonymous: ${anonymous}, scopes: any }`;
  await using folder = await workspace({
    'config/gateway.yaml': GATEWAY,
    'policies/orders.yaml': policy({ access, ofVersion: ', access: { identity: keys, scopes: any }' }),
  });
  const [api] = (await folder.load()).plan?.apis ?? [];
  expect(api?.access).toMatchObject({ vary: ofApi });
  expect(api?.versions.get('v1')?.access).toMatchObject({ vary: ofVersion });
});
