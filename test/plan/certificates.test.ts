// Tests the findings of `check` about the certificates of the gateway file.
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeKeyPair, type PairWanted } from '../support/key-pairs.ts';
import { GATEWAY, NOW, ORDERS, workspace } from './workspace.ts';

const DAY = 86_400_000;

interface Case {
  readonly names: string;
  readonly pair: PairWanted;
  readonly tls?: string;
  readonly mode?: number;
  readonly key?: string;
  /** Default: the first of `names`. */
  readonly host?: string;
  /** More lines of the gateway file. */
  readonly more?: string;
  readonly policy?: string;
}

async function problemsOf({
  names,
  pair,
  tls = '',
  mode = 0o600,
  key,
  host,
  more = '',
  policy = ORDERS,
}: Case): Promise<readonly string[]> {
  const pairText = `{ names: [${names}], cert: a.crt, key: a.key }`;
  const written = `"127.0.0.1:8443", tls: { certificates: [${pairText}]${tls} }`;
  const [first = ''] = names.replace('*', 'any').match(/[a-z0-9.]+/) ?? [];
  const made = await makeKeyPair({ from: NOW - DAY, until: NOW + 30 * DAY, ...pair });
  await using files = await workspace({
    'config/gateway.yaml': `${GATEWAY}${more}`
      .replace('"127.0.0.1:8443"', written)
      .replace('api.example.com', host ?? first),
    'policies/orders.yaml': policy,
    'config/a.crt': made.cert,
  });
  const file = join(files.folder, 'config/a.key');
  await writeFile(file, key ?? made.key, { mode });
  await chmod(file, mode);
  return await files.problems();
}

const EXAMPLE = { names: ['a.example'] };

describe('a certificate in the gateway file', () => {
  it.each<[string, Case]>([
    ['for its name', { names: 'a.example', pair: EXAMPLE }],
    ['that is RSA', { names: 'a.example', pair: { ...EXAMPLE, kind: 'rsa' } }],
    ['for a wildcard', { names: '"*.a.example", a.example', pair: { names: ['a.example', '*.a.example'] } }],
    ['for one name of a wildcard', { names: 'v1.a.example', pair: { names: ['*.a.example'] } }],
    ['whose key its group may read', { names: 'a.example', pair: EXAMPLE, mode: 0o640 }],
    ['with a default of its names', { names: 'a.example', pair: EXAMPLE, tls: ', default: a.example' }],
    ['with no default', { names: 'a.example', pair: EXAMPLE, tls: ', default: none' }],
  ])('%s has no findings', async (_title, given) => {
    expect(await problemsOf(given)).toEqual([]);
  });

  it.each<[string, Case, string]>([
    [
      'for another name',
      { names: 'b.example', pair: EXAMPLE },
      '«[b.example]» error: the certificate is not for b.example',
    ],
    [
      'for a name above its wildcard',
      { names: 'a.example', pair: { names: ['*.a.example'] } },
      '«[a.example]» error: the certificate is not for a.example',
    ],
    [
      'for one name where a wildcard is written',
      { names: '"*.a.example"', pair: { names: ['v1.a.example'] } },
      '«["*.a.example"]» error: the certificate is not for *.a.example',
    ],
    [
      'with the key of another',
      { names: 'a.example', pair: EXAMPLE, key: '-----BEGIN PRIVATE KEY-----\nhunter2\n' },
      '«a.crt» error: not a PEM certificate with its private key',
    ],
    [
      'with an empty key',
      { names: 'a.example', pair: EXAMPLE, key: '' },
      '«a.crt» error: not a PEM certificate with its private key',
    ],
    [
      'whose key has a passphrase',
      { names: 'a.example', pair: EXAMPLE, key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nhunter2\n' },
      '«a.crt» error: not a PEM certificate with its private key (the key is encrypted with a passphrase: use one without)',
    ],
    [
      'named twice',
      { names: 'a.example, a.example', pair: EXAMPLE },
      '«a.example» error: another certificate has this name',
    ],
    [
      'with a default that no certificate has',
      { names: 'a.example', pair: EXAMPLE, tls: ', default: b.example' },
      '«b.example» error: no certificate has this name',
    ],
    [
      'that has expired',
      { names: 'a.example', pair: { ...EXAMPLE, from: NOW - 9 * DAY, until: NOW - DAY } },
      '«a.crt» warning: the certificate expired at 2026-11-19T00:00:00.000Z (clients refuse it: renew it)',
    ],
    [
      'that is not valid yet',
      { names: 'a.example', pair: { ...EXAMPLE, from: NOW + DAY } },
      '«a.crt» warning: the certificate is valid from 2026-11-21T00:00:00.000Z on (clients refuse it until then)',
    ],
    [
      'whose key every user may read',
      { names: 'a.example', pair: EXAMPLE, mode: 0o644 },
      "«a.key» warning: every user of this machine may read the key (chmod 600 it, or 640 with the gateway's group)",
    ],
  ])('%s gets a finding', async (_title, given, expected) => {
    const problems = await problemsOf(given);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^config\/gateway\.yaml:2 /);
    expect(problems[0]?.slice('config/gateway.yaml:2 '.length)).toBe(expected);
    expect(problems.join()).not.toContain('hunter2');
  });
});

it('a swapped certificate and key are reported as swapped', async () => {
  const { cert, key } = await makeKeyPair({ names: ['a.example'] });
  await using files = await workspace({
    'config/gateway.yaml': GATEWAY.replace(
      '"127.0.0.1:8443"',
      '"127.0.0.1:8443", tls: { certificates: [{ names: [api.example.com], cert: a.key, key: a.crt }] }',
    ),
    'policies/orders.yaml': ORDERS,
    'config/a.crt': cert,
    'config/a.key': key,
  });
  expect(await files.problems()).toEqual([
    'config/gateway.yaml:2 «a.key» error: not a PEM certificate with its private key (the two files are swapped: exchange them)',
  ]);
});

describe('a public host', () => {
  const WILD = { names: '"*.a.example"', pair: { names: ['*.a.example'] } };
  it.each([
    ['v1.a.example', []],
    ['V1.A.Example', []],
    ['a.example', ['config/gateway.yaml:1']],
    ['x.v1.a.example', ['config/gateway.yaml:1']],
    ['127.0.0.1:8443', ['config/gateway.yaml:1']],
  ])('%s is compared with the names of the certificates', async (host, places) => {
    const problems = await problemsOf({ ...WILD, host });
    expect(problems.map((each) => each.split(' ')[0])).toEqual(places);
    const bare = host.replace(':8443', '');
    for (const each of problems)
      expect(each).toContain(
        `warning: no certificate covers ${bare}: clients cannot connect (add it to the names`,
      );
  });

  it.each([
    [
      'host: b.example',
      [
        'policies/orders.yaml:2 «b.example» warning: no certificate covers b.example: clients cannot connect (listeners.https.tls needs a certificate with the name b.example)',
      ],
    ],
    [
      'host: [v1.a.example, a.example]',
      [
        'policies/orders.yaml:2 «a.example» warning: no certificate covers a.example: clients cannot connect (listeners.https.tls needs a certificate with the name a.example)',
      ],
    ],
    ['host: v1.a.example', []],
  ])('of a policy is compared too: %s', async (host, expected) => {
    const policy = ORDERS.replace('base:', `${host}\nbase:`);
    expect(await problemsOf({ ...WILD, host: 'v1.a.example', policy })).toEqual(expected);
  });

  it.each([
    ['{version}.a.example', []],
    ['{version}.b.example', ['v1.b.example, v2.b.example']],
    ['{version}.x.a.example', ['v1.x.a.example, v2.x.a.example']],
  ])('that carries the version is compared for each version: %s', async (subdomain, missing) => {
    const policy = ORDERS.replace('{ header: API-Version }', `{ subdomain: "${subdomain}" }`);
    const problems = await problemsOf({ ...WILD, host: 'v1.a.example', policy });
    const hint = `listeners.https.tls needs a certificate with the name ${subdomain.replace('{version}', '*')}`;
    expect(problems).toEqual(
      missing.map(
        (each) =>
          `policies/orders.yaml:3 «"${subdomain}"» warning: no certificate covers ${each}: clients cannot connect (${hint})`,
      ),
    );
  });

  it('is not compared behind a trusted proxy', async () => {
    const more = 'trusted_proxies: [10.0.0.1]\n';
    expect(await problemsOf({ ...WILD, host: 'b.example', more })).toEqual([]);
  });
});
