// Tests the compiled `config/gateway.yaml`: defaults, paths, stores, certificates.
import { describe, expect, it } from 'vitest';
import { compileBounds, compileDrain, compileOverload } from '../../gateway/plan/compile/bounds.ts';
import { parseAddress, parseHostName, parseRange, reaches } from '../../gateway/plan/grammar/addresses.ts';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

const load = async (gateway: string, environment: Record<string, string> = {}) => {
  await using files = await workspace({ 'config/gateway.yaml': gateway, 'policies/orders.yaml': ORDERS });
  const { settings, problems } = await files.load(environment);
  return { settings, problems, folder: files.folder };
};

describe('settings', () => {
  it.each([
    ['http://127.0.0.1:4318', 'http://127.0.0.1:4318/v1/traces'],
    ['https://otel.example.com/', 'https://otel.example.com/v1/traces'],
    ['https://otel.example.com/in/v1/traces', 'https://otel.example.com/in/v1/traces'],
  ])('a collector at %s gets spans at %s', async (written, otlp) => {
    const { settings } = await load(`tracing: { otlp: "${written}", sample: 10% }\n${GATEWAY}`);
    expect(settings?.tracing).toEqual({ starts: true, sampled: 0.1, otlp });
  });

  it('have a default for everything optional', async () => {
    const { settings, folder } = await load(GATEWAY);
    expect(settings).toEqual({
      public: 'https://api.example.com',
      listeners: {
        https: {
          address: { host: '127.0.0.1', port: 8443 },
          plane: 'fast',
          hstsSeconds: undefined,
          certificates: [],
          defaultName: undefined,
          refusesNameless: false,
        },
        http: undefined,
        admin: { address: { host: '127.0.0.1', port: 9901 } },
      },
      trustedProxies: [],
      sendsForwarded: false,
      store: { kind: 'embedded', folder: `${folder}/data` },
      storeTimeoutMs: 50,
      replicas: 1,
      workers: 1,
      identities: [
        {
          kind: 'jwt',
          name: 'main',
          issuer: 'https://auth.example.com',
          audience: 'api',
          jwksUrl: 'https://auth.example.com/.well-known/jwks.json',
          algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
          consumerClaims: ['client_id', 'azp', 'sub'],
          maxLifetimeSeconds: 3600,
          tokenTypes: ['at+jwt'],
          tokenCacheMs: 300_000,
        },
      ],
      dataFolder: `${folder}/data`,
      policies: [`${folder}/policies/*.yaml`],
      // bounds.test.ts tests these values.
      bounds: compileBounds({}),
      ledger: { keepDays: 400 },
      overload: compileOverload({}),
      drain: compileDrain({}),
      start: 'accepted',
      logLevel: 'info',
      accessLog: { fields: 'all', sampled: 1, excluded: [] },
      tracing: { starts: true, sampled: 1 },
      guard: undefined,
      credentialsInUrl: [],
      deprecationForm: 'rfc9745',
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('TLS-6: hsts of 0s withdraws the policy', async () => {
    const { settings, problems } = await load(
      GATEWAY.replace('"127.0.0.1:8443"', '"127.0.0.1:8443", hsts: 0s'),
    );
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({ listeners: { https: { hstsSeconds: 0 } } });
  });

  it('use written values', async () => {
    const written = `data: ./var
store: "\${env:STORE}"
replicas: "\${env:REPLICAS:-3}"
store_timeout: 80ms
guard: 10/1s
deprecation_header: "true"
${GATEWAY.replace('"127.0.0.1:8443"', '"127.0.0.1:8443", hsts: 365d')}`;
    const { settings, problems, folder } = await load(written, { STORE: 'redis://:hunter2@cache:6379/1' });
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({
      dataFolder: `${folder}/var`,
      store: { kind: 'redis', url: 'redis://:hunter2@cache:6379/1' },
      storeTimeoutMs: 80,
      replicas: 3,
      guard: { name: 'guard', units: 10, windowMs: 1000, burst: 10 },
      deprecationForm: 'true',
      listeners: { https: { hstsSeconds: 31_536_000 } },
    });
  });

  it.each([
    ['auto', 'auto'],
    ['2', 2],
    [`"\${env:WORKERS}"`, 64],
  ])('workers: %s', async (written, workers) => {
    const { settings, problems } = await load(`workers: ${written}\n${GATEWAY}`, { WORKERS: '64' });
    expect(problems).toEqual([]);
    expect(settings?.workers).toBe(workers);
  });

  it.each(['9ms', '6s', '50', '""'])('store_timeout: %s is refused', async (written) => {
    const { problems } = await load(`store_timeout: ${written}\n${GATEWAY}`);
    expect(problems).toEqual([expect.objectContaining({ severity: 'error', line: 1, column: 16 })]);
  });

  it.each([
    ['off', undefined],
    ['{ keep: 90d }', { keepDays: 90 }],
    ['{ keep: 48h }', { keepDays: 2 }],
    ['{}', { keepDays: 400 }],
  ])('ledger: %s', async (written, ledger) => {
    const { settings, problems } = await load(`ledger: ${written}\n${GATEWAY}`);
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({ ledger });
  });

  it.each(['{ keep: 36h }', '{ keep: 0d }', '{ keep: 400 }', '400d', 'on'])(
    'ledger: %s is refused',
    async (written) => {
      const { problems } = await load(`ledger: ${written}\n${GATEWAY}`);
      expect(problems).toEqual([expect.objectContaining({ severity: 'error', line: 1 })]);
    },
  );

  it.each(['0', '65', '-1', '1.5', 'many', '""'])('workers: %s is refused', async (written) => {
    const { problems } = await load(`workers: ${written}\n${GATEWAY}`);
    expect(problems).toEqual([expect.objectContaining({ severity: 'error', line: 1, column: 10 })]);
  });

  it.each([
    ['off', { starts: false, sampled: 0 }],
    ['{}', { starts: true, sampled: 1 }],
    ['{ sample: 0% }', { starts: true, sampled: 0 }],
    ['{ sample: 2.5% }', { starts: true, sampled: 0.025 }],
    ['{ sample: 100% }', { starts: true, sampled: 1 }],
  ])('tracing: %s', async (written, tracing) => {
    const { settings } = await load(`tracing: ${written}\n${GATEWAY}`);
    expect(settings?.tracing).toEqual(tracing);
  });

  it.each(['101%', '10', '-1%', '1e1%', '%'])('tracing: { sample: %s } is refused', async (written) => {
    const { problems } = await load(`tracing: { sample: "${written}" }\n${GATEWAY}`);
    expect(problems).toEqual([expect.objectContaining({ severity: 'error', line: 1, column: 20 })]);
  });

  it.each([
    ['embedded', 'var'],
    ['embedded:./counters', 'counters'],
  ])('the store %s is in ./%s', async (store, where) => {
    const { settings, folder } = await load(`data: ./var\nstore: ${store}\n${GATEWAY}`);
    expect(settings?.store).toEqual({ kind: 'embedded', folder: `${folder}/${where}` });
  });

  it('a malformed certificate is refused without a quote of it', async () => {
    const tls =
      'tls: { certificates: [{ names: [api.example.com], cert: a.crt, key: a.key }], default: b.example }';
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace('"127.0.0.1:8443"', `"127.0.0.1:8443", ${tls}`),
      'config/a.crt': 'hunter2',
      'config/a.key': 'hunter2',
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toEqual([
      'config/gateway.yaml:2 «a.crt» error: not a PEM certificate with its private key',
      'config/gateway.yaml:2 «b.example» error: no certificate has this name',
    ]);
  });
});

describe('addresses', () => {
  it.each([
    [':8443', { host: undefined, port: 8443 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['localhost:1', { host: 'localhost', port: 1 }],
  ])('%s', (text, address) => expect(parseAddress(text)).toEqual(address));
  it.each(['', '8443', ':', ':65536', 'a b:1', '::1:80', '[::1', '-a:1', '256.1.1.1:80'])(
    '%j is not an address',
    (text) => expect(parseAddress(text)).toBeUndefined(),
  );
  it.each(['API.example.com', 'a..b', 'a.example.', 'a_b', '1.2.3', '[1::2::3]', 'a/b', ''])(
    '%j is not a host',
    (text) => expect(parseHostName(text)).toBeUndefined(),
  );
  it.each(['10.0.0.0/8', '::1', 'fd00::/8', '192.0.2.1'])('%s is a range', (text) =>
    expect(parseRange(text)).toBe(text),
  );
  it.each(['10.0.0.0/33', '10.0.0/8', 'fd00::/129', '10.0.0.0/8/8', 'host'])('%s is not a range', (text) =>
    expect(parseRange(text)).toBeUndefined(),
  );

  it.each([
    ['http://127.0.0.1:8443', '127.0.0.1', true],
    ['http://localhost:8443', '127.0.0.1', true],
    ['http://[::1]:8443', undefined, true],
    ['http://127.0.0.1:8443', '0.0.0.0', true],
    ['http://10.0.0.1:8443', '10.0.0.1', true],
    ['http://10.0.0.2:8443', '10.0.0.1', false],
    ['http://10.0.0.2:8443', undefined, false],
    ['http://127.0.0.1:8444', '127.0.0.1', false],
  ])('%s reaches a listener on %s:8443: %s', (origin, host, expected) =>
    expect(reaches(origin, { host, port: 8443 })).toBe(expected),
  );
  it('no origin reaches port 0', () =>
    expect(reaches('http://127.0.0.1:0', { host: '127.0.0.1', port: 0 })).toBe(false));
});

describe('policies', () => {
  it('a folder instead of its files gets a hint', async () => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace('../policies/*.yaml', '../policies'),
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toEqual([
      expect.stringMatching(
        /^policies:1 .*error: cannot read: it is a folder \(name the files in it: policies\/\*\.yaml\)$/,
      ),
    ]);
  });
});
