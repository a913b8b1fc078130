// Tests token identities of `config/gateway.yaml`: compiled settings, findings, hidden client secrets.
import { describe, expect, it } from 'vitest';
import { effectiveConfig, effectiveYaml } from '../../gateway/plan/effective/effective.ts';
import { hasPlan } from '../../gateway/plan/load.ts';
import { renderProblems } from '../../gateway/plan/problems.ts';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

const JWT = 'issuer: https://auth.example.com, audience: api';
const ASKED = 'introspection: https://auth.example.com/introspect';
const CLIENT = `client: { id: sundial, secret: "\${env:CANARY}" }`;
const ENVIRONMENT = { CANARY: 'canary-secret' };

/** The workspace with this identity `main`. */
const withMain = (main: string) =>
  workspace({
    'config/gateway.yaml': GATEWAY.replace(`{ ${JWT} }`, `{ ${main} }`),
    'policies/orders.yaml': ORDERS,
  });

async function loaded(main: string) {
  await using files = await withMain(main);
  return await files.load(ENVIRONMENT);
}

describe('an introspection identity', () => {
  it('has defaults for all but the endpoint and the client', async () => {
    expect((await loaded(`${ASKED}, ${CLIENT}`)).settings?.identities).toEqual([
      {
        kind: 'introspection',
        name: 'main',
        endpoint: 'https://auth.example.com/introspect',
        client: { id: 'sundial', secret: 'canary-secret' },
        consumerClaims: ['client_id', 'azp', 'sub'],
        tokenCacheMs: 60_000,
      },
    ]);
  });

  it('uses written values, including a query in its endpoint and http on loopback', async () => {
    const written = `introspection: "http://127.0.0.1:4000/introspect?realm=a", ${CLIENT}, issuer: https://auth.example.com, audience: api, consumer: [username], token_cache: 5s`;
    expect((await loaded(written)).settings?.identities).toMatchObject([
      {
        endpoint: 'http://127.0.0.1:4000/introspect?realm=a',
        issuer: 'https://auth.example.com',
        audience: 'api',
        consumerClaims: ['username'],
        tokenCacheMs: 5_000,
      },
    ]);
  });

  it('shows its secret neither in the effective configuration nor in a finding', async () => {
    await using files = await withMain(`${ASKED}, ${CLIENT}`);
    const whole = await files.load(ENVIRONMENT);
    if (!hasPlan(whole)) throw new Error(renderProblems(whole.problems, { colour: false }));
    const { sources, plan } = whole;
    const shown = effectiveYaml(
      effectiveConfig({ revision: plan.revision, gateway: sources.gateway, policies: [], defaults: true }),
      { origin: false },
    );
    expect(shown).toContain('[redacted]');
    expect(shown).toMatch(/token_cache: 60s/);
    expect(shown).not.toContain('canary');
  });
});

it.each(['canary', '"canary with spaces, and {more}"', "'canary with a space'"])(
  'a secret in the file, %s, is reported without a quote',
  async (secret) => {
    const { problems } = await loaded(`${ASKED}, client: { id: sundial, secret: ${secret} }`);
    const text = renderProblems(problems, { colour: false });
    expect(text).toMatch(/client: \{ id: sundial, secret: ["']?\*+["']? ?\}/);
    expect(text + problems.map(({ message }) => message).join()).not.toMatch(/canary|spaces|more/);
  },
);

describe('prefix', () => {
  const TWO = `${JWT} }, partner: { issuer: https://id.partner.example, audience: api`;
  const WARNING = [
    'identity warning: a consumer of partner and one of main with the same id count as one: they share limits, exceptions and usage (write prefix: partner/, or prefix: off if equal ids mean the same consumer)',
  ];
  const of = async (identities: string) => {
    const { settings, problems } = await loaded(identities);
    const told = problems.map(
      ({ rule, severity, message, hint }) => `${rule} ${severity}: ${message} (${hint})`,
    );
    return [settings?.identities.map((each) => 'prefixes' in each && each.prefixes), told];
  };

  it.each<[string, string, readonly unknown[], readonly string[]]>([
    ['one issuer', JWT, [false], []],
    ['two without a prefix', TWO, [false, false], WARNING],
    ['two with prefix: off', `${TWO}, prefix: off`, [false, false], []],
    [
      'two, one of them with a prefix',
      `${TWO}, prefix: partner/`,
      [
        { own: '', others: ['partner/'] },
        { own: 'partner/', others: [] },
      ],
      [],
    ],
    [
      'an issuer and an introspection endpoint',
      `${JWT} }, opaque: { ${ASKED}, ${CLIENT}`,
      [false, false],
      [],
    ],
    [
      'an issuer, keys and certificates',
      `${JWT}, prefix: main/ }, keys: { header: X-API-Key }, mtls: { certificate: { consumer: cn }`,
      [{ own: 'main/', others: [] }, false, { own: '', others: ['main/'] }],
      [
        'identity error: no listener requests client certificates (add listeners.https.tls.client_certificates: { ca: <file>, mode: optional })',
      ],
    ],
  ])('of %s', async (_what, identities, prefixes, told) => {
    const [compiled, problems] = await of(identities);
    expect(problems).toEqual(told);
    if (compiled !== undefined) expect(compiled).toEqual(prefixes);
  });
});

describe('token_cache', () => {
  it.each([
    [JWT, 300_000],
    [`${JWT}, token_cache: off`, 0],
    [`${JWT}, token_cache: 5m`, 300_000],
    [`${ASKED}, ${CLIENT}, token_cache: off`, 0],
    [`${ASKED}, ${CLIENT}, token_cache: 60s`, 60_000],
  ])('of %s is %i ms', async (main, tokenCacheMs) => {
    const { settings, problems } = await loaded(main);
    expect(problems).toEqual([]);
    expect(settings?.identities).toMatchObject([{ tokenCacheMs }]);
  });
});

describe('a mistake in an identity', () => {
  it.each([
    ['no client', ASKED, '«main» error: the key "client" is missing'],
    ['no secret', `${ASKED}, client: { id: sundial }`, '«client» error: the key "secret" is missing'],
    [
      'an empty secret',
      `${ASKED}, client: { id: sundial, secret: "" }`,
      '«""» error: not a client secret: 1 to 1024 printable ASCII characters: [redacted]',
    ],
    [
      'a secret that is a number',
      `${ASKED}, client: { id: sundial, secret: 4711 }`,
      '«****» warning: this value is read as a number: write it in quotes',
    ],
    [
      'a secret in plain text',
      `${ASKED}, client: { id: sundial, secret: hunter2 }`,
      `«*******» warning: the secret is written in this file in plain text (write \${file:/path} or \${env:NAME})`,
    ],
    [
      'an endpoint over plain http',
      `introspection: http://auth.example.com/introspect, ${CLIENT}`,
      '«http://auth.example.com/introspect» error: not an https URL (no fragment; http only on this machine): "http://auth.example.com/introspect"',
    ],
    [
      'RFC 7662: a cache of introspection responses above 60s',
      `${ASKED}, ${CLIENT}, token_cache: 5m`,
      '«5m» error: not a duration from 1s to 60s, nor off: "5m"',
    ],
    [
      'a cache of JWTs above 5m',
      `${JWT}, token_cache: 1h`,
      '«1h» error: not a duration from 1s to 5m, nor off: "1h"',
    ],
    [
      'a misspelt key of introspection',
      `${ASKED}, ${CLIENT}, audiense: api`,
      '«audiense» error: unknown key "audiense" (did you mean "audience"?)',
    ],
    [
      'a misspelt key of JWT',
      'isuer: https://auth.example.com, audience: api',
      '«isuer» error: unknown key "isuer" (did you mean "issuer"?)',
    ],
    [
      'a JWT key beside introspection',
      `${ASKED}, ${CLIENT}, jwks: https://auth.example.com/keys`,
      '«jwks» error: unknown key "jwks" (there are introspection, client, issuer, audience, consumer, prefix, token_cache)',
    ],
  ])('is reported for %s', async (_name, main, sentence) => {
    await using files = await withMain(main);
    const problems = (await files.problems(ENVIRONMENT)).map((each) => each.replace(/^\S+ /, ''));
    expect(problems).toContain(sentence);
    expect(problems.join()).not.toContain('canary');
  });
});
