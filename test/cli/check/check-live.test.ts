// `sundial check --live`: services that respond, are missing or are wrong, with their line and a time limit.
import { createServer as createHttp, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { generate } from 'selfsigned';
import { afterAll, describe, expect, it } from 'vitest';
import { runCheck } from '../../../gateway/cli/check/check.ts';
import { tryAll } from '../../../gateway/cli/check/live-attempts.ts';
import { endOfCertificate, endOfCertificateFile } from '../../../gateway/cli/check/live-checks.ts';
import { pingRedis } from '../../../gateway/cli/check/ping-redis.ts';
import { workspace } from '../../plan/workspace.ts';
import { freePorts } from '../../support/ports.ts';

const NOW = Date.parse('2026-11-20T00:00:00Z');
const DAY = 86_400_000;
// Closed at the end, because several tests wait concurrently, each with its own servers.
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => void server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

const accepting = () => listen(createServer((socket) => socket.on('error', () => undefined)));
const serving = (listener: RequestListener) => listen(createHttp(listener));
const KEYS = JSON.stringify({ keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] });

interface Named {
  readonly targets: readonly string[];
  readonly issuer: string;
  readonly store?: string;
  /** An introspection endpoint, instead of the issuer's keys. */
  readonly introspection?: string;
}

interface Found {
  readonly exitCode: number;
  readonly problems: readonly Readonly<Record<string, unknown>>[];
  readonly text: string;
}

/** Checks a gateway file with these addresses, as text and JSON. */
async function check(
  { targets, issuer, store = 'embedded', introspection }: Named,
  strict = false,
): Promise<Found> {
  const main =
    introspection === undefined
      ? `{ issuer: "${issuer}", audience: api }`
      : `{ introspection: "${introspection}", client: { id: a, secret: "\${env:PASSWORD}" } }`;
  await using files = await workspace({
    'config/gateway.yaml': `public: https://api.example.com
listeners: { https: { address: "127.0.0.1:8443" } }
identity: { main: ${main} }
store: "${store}"
policies: ../policies/*.yaml
`,
    'policies/orders.yaml': `api: orders
base: /api/orders
resolve: [{ path: "/api/{version}/orders" }]
access: { identity: main, scopes: { read: [orders:read] } }
upstreams:
  v1: { targets: [${targets.map((each) => `"${each}"`).join(', ')}] }
versions: { v1: { released: 2024-06-01 } }
`,
  });
  const options = {
    files: [],
    configFile: join(files.folder, 'config/gateway.yaml'),
    strict,
    live: { today: NOW },
    environment: { PASSWORD: 'canary-password' },
    now: NOW,
    colour: false,
    cwd: files.folder,
  };
  const [{ text }, { text: json, exitCode }] = await Promise.all([
    runCheck({ ...options, format: 'text' }),
    runCheck({ ...options, format: 'json' }),
  ]);
  expect(text + json).not.toContain('canary');
  return { exitCode, problems: JSON.parse(json).problems, text };
}

describe.concurrent('check --live', () => {
  it('has no findings if all services respond', async () => {
    const issuer = `http://127.0.0.1:${await serving((_, response) => response.end(KEYS))}`;
    const targets = [`http://127.0.0.1:${await accepting()}`];
    expect(await check({ targets, issuer }, true)).toMatchObject({ exitCode: 0, problems: [] });
  });

  it('contacts no service if the files have errors', async () => {
    const { problems } = await check({ targets: ['http://127.0.0.1:1/path'], issuer: 'http://127.0.0.1:1' });
    expect(problems.map(({ rule }) => rule)).not.toContain('live-target');
    expect(problems).not.toEqual([]);
  });

  it('reports an unreachable target with its line and its rule', async () => {
    const issuer = `http://127.0.0.1:${await serving((_, response) => response.end(KEYS))}`;
    const [port] = await freePorts(1);
    const { exitCode, text, problems } = await check({ targets: [`http://127.0.0.1:${port}`], issuer });
    expect(exitCode).toBe(1);
    expect(problems).toMatchObject([
      { file: 'policies/orders.yaml', line: 6, column: 19, rule: 'live-target' },
    ]);
    expect(text).toContain(
      'policies/orders.yaml:6:19: error: this target of v1 cannot be reached: the connection was refused [live-target]\n',
    );
  });

  it('warns of one unreachable target of several, and exits with 1 only under --strict', async () => {
    const issuer = `http://127.0.0.1:${await serving((_, response) => response.end(KEYS))}`;
    const [port] = await freePorts(1);
    const targets = [`http://127.0.0.1:${await accepting()}`, `http://127.0.0.1:${port}`];
    expect(await check({ targets, issuer })).toMatchObject({
      exitCode: 0,
      problems: [{ severity: 'warning' }],
    });
    expect((await check({ targets, issuer }, true)).exitCode).toBe(1);
  });

  it('reports a target whose certificate is not trusted, or that does not speak TLS', async () => {
    const issuer = `http://127.0.0.1:${await serving((_, response) => response.end(KEYS))}`;
    const pair = await generate([{ name: 'commonName', value: 'orders.internal' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'orders.internal' }] }],
    });
    const port = await listen(
      createTls({ cert: pair.cert, key: pair.private }, (socket) => socket.on('error', () => undefined)),
    );
    const { problems } = await check({ targets: [`https://127.0.0.1:${port}`], issuer });
    expect(problems).toMatchObject([
      {
        rule: 'live-target',
        message: expect.stringContaining('its certificate is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT)'),
      },
    ]);
    const plain = await check({
      targets: [`https://127.0.0.1:${await serving((_, response) => response.end())}`],
      issuer,
    });
    expect(plain.problems).toMatchObject([{ message: expect.stringContaining('it does not use TLS') }]);
  });

  it('reports a host name that does not resolve', async () => {
    const issuer = `http://127.0.0.1:${await serving((_, response) => response.end(KEYS))}`;
    const { problems } = await check({ targets: ['http://nowhere.invalid:80'], issuer });
    expect(problems).toMatchObject([
      { message: 'this target of v1 cannot be reached: the host name is unknown' },
    ]);
  });

  it.each<readonly [sentence: string, listener: RequestListener]>([
    ['it answers with status 404', (_, response) => response.writeHead(404).end()],
    ['it is no key set', (_, response) => response.end('<html>')],
    ['it is no key set', (_, response) => response.end('{"keys":1}')],
    ['it holds no public key', (_, response) => response.end('{"keys":[{"kty":"oct","k":"canary"}]}')],
    ['it is larger than 256 KiB', (_, response) => response.end('x'.repeat(300_000))],
    ['no answer within 3 seconds', () => undefined],
  ])('reports an unusable key set: %s', async (sentence, listener) => {
    const issuer = `http://127.0.0.1:${await serving(listener)}`;
    const targets = [`http://127.0.0.1:${await accepting()}`];
    expect(await check({ targets, issuer })).toMatchObject({
      exitCode: 1,
      problems: [{ line: 3, rule: 'live-keys', message: `the keys of main cannot be had: ${sentence}` }],
    });
  });

  it.each<readonly [sentence: string | undefined, listener: RequestListener]>([
    [undefined, (_, response) => response.end('{"active":false}')],
    [
      'it does not take the id and secret of client (401)',
      (_, response) => response.writeHead(401).end('canary-body'),
    ],
    ['it answers with status 404', (_, response) => response.writeHead(404).end()],
    ['its answer does not say whether a token is active', (_, response) => response.end('<html>')],
    ['it reports an invented token as active', (_, response) => response.end('{"active": true}')],
    ['the connection was closed without a response', (_, response) => response.destroy()],
  ])('reports this fault of an introspection endpoint: %s', async (sentence, listener) => {
    const introspection = `http://127.0.0.1:${await serving(listener)}/introspect`;
    const targets = [`http://127.0.0.1:${await accepting()}`];
    const message = `main cannot be asked about tokens: ${sentence}`;
    expect(await check({ targets, issuer: '', introspection })).toMatchObject({
      problems: sentence === undefined ? [] : [{ line: 3, rule: 'live-introspection', message }],
    });
  });

  it('reports an unreachable Redis without its URL', async () => {
    const issuer = `http://127.0.0.1:${await serving((_, response) => response.end(KEYS))}`;
    const targets = [`http://127.0.0.1:${await accepting()}`];
    const [port] = await freePorts(1);
    const store = `redis://:\${env:PASSWORD}@127.0.0.1:${port}`;
    expect(await check({ targets, issuer, store })).toMatchObject({
      exitCode: 1,
      problems: [
        { line: 4, rule: 'live-store', message: 'the Redis does not answer: the connection was refused' },
      ],
    });
  });

  it('runs at most 64 attempts at once, each once, and has an outcome for all', async () => {
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const attempt = async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === 64) resolve();
      await enough;
      running -= 1;
      return 'tried';
    };
    const outcomes = await tryAll(new Map(Array.from({ length: 200 }, (_, index) => [`${index}`, attempt])));
    expect({ most, outcomes: outcomes.size, tried: new Set(outcomes.values()) }).toEqual({
      most: 64,
      outcomes: 200,
      tried: new Set(['tried']),
    });
  });
});

describe.concurrent('the ping of a Redis', () => {
  const bounds = () => ({ signal: AbortSignal.timeout(2_000), seconds: 2 });
  /** Replies to each command by its name, and records what it received. */
  async function redis(answers: Readonly<Record<string, string>>) {
    const received: string[] = [];
    const port = await listen(
      createServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => {
          const words = chunk
            .toString()
            .split('\r\n')
            .filter((word) => word !== '' && !/^[*$]\d+$/.test(word));
          received.push(...words);
          for (const word of words) if (answers[word] !== undefined) socket.write(`${answers[word]}\r\n`);
        });
      }),
    );
    return { port, received };
  }

  it('authenticates, selects the database and accepts PONG', async () => {
    const { port, received } = await redis({ AUTH: '+OK', SELECT: '+OK', PING: '+PONG' });
    expect(await pingRedis(`redis://maria:p%40ss@127.0.0.1:${port}/3`, bounds())).toBeUndefined();
    expect(received).toEqual(['AUTH', 'maria', 'p@ss', 'SELECT', '3', 'PING']);
  });

  it.each([
    ['it refuses (WRONGPASS)', { AUTH: '-WRONGPASS invalid username-password pair' }],
    ['it has no such database', { PING: '-ERR DB index is out of range' }],
    ['it refuses (NOAUTH)', { PING: '-NOAUTH Authentication required.' }],
    ['what answers there is no Redis', { PING: 'HTTP/1.1 400 Bad Request\r\n\r\n' }],
    ['no answer within 2 seconds', {}],
  ])('reports: %s', async (sentence, answers) => {
    const { port } = await redis(answers);
    const password = 'AUTH' in answers ? ':canary@' : '';
    expect(await pingRedis(`redis://${password}127.0.0.1:${port}`, bounds())).toBe(sentence);
  });

  const bulk = (text: string) => `$${text.length}\r\n${text}`;

  it.each([
    [undefined, bulk('cluster_enabled:1\r\ncluster_state:ok\r\n')],
    ['the cluster is down', bulk('cluster_state:fail\r\n')],
    ['it is no cluster: write redis://', '-ERR This instance has cluster support disabled'],
    ['it refuses (NOPERM)', "-NOPERM User default has no permissions to run the 'cluster|info' command"],
    ['what answers there is no Redis', '+hello'],
  ])('uses another server of a cluster if one is unreachable, and reports: %s', async (sentence, info) => {
    const { port, received } = await redis({ AUTH: '+OK', INFO: info });
    const [away = 0] = await freePorts(1);
    const url = `redis+cluster://:canary@127.0.0.1:${away},127.0.0.1:${port}`;
    expect(await pingRedis(url, bounds())).toBe(sentence);
    expect(received).toEqual(['AUTH', 'canary', 'CLUSTER', 'INFO']);
  });

  it('asks the sentinels for the primary, each with its own password', async () => {
    const primary = await redis({ AUTH: '+OK', SELECT: '+OK', PING: '+PONG' });
    const told = `*2\r\n${bulk('127.0.0.1')}\r\n${bulk(String(primary.port))}`;
    const sentinel = await redis({ AUTH: '+OK', main: told });
    const url = `redis+sentinel://:data@:watch@127.0.0.1:${sentinel.port}/main/2`;
    expect(await pingRedis(url, bounds())).toBeUndefined();
    expect(sentinel.received).toEqual(['AUTH', 'watch', 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main']);
    expect(primary.received).toEqual(['AUTH', 'data', 'SELECT', '2', 'PING']);
    const unknown = await redis({ other: '*-1' });
    expect(await pingRedis(`redis+sentinel://127.0.0.1:${unknown.port}/other`, bounds())).toBe(
      'its sentinels know no primary of that name',
    );
  });
});

describe.concurrent('the expiry of a certificate', () => {
  const pairUntil = (end: number) =>
    generate([{ name: 'commonName', value: 'api.example.com' }], {
      notBeforeDate: new Date(NOW - 300 * DAY),
      notAfterDate: new Date(end),
    });

  it.each([
    ['in a year is no finding', 365, undefined],
    ['in ten days is a warning', 10, { severity: 'warning', message: 'this certificate ends on 2026-11-30' }],
    ['yesterday is an error', -1, { severity: 'error', message: 'this certificate ended on 2026-11-19' }],
  ])('%s', async (_name, days, expected) => {
    const { cert } = await pairUntil(NOW + days * DAY);
    expect(endOfCertificate(cert, NOW)).toEqual(expected);
  });

  it('is an error if the file is missing', () => {
    expect(endOfCertificateFile('/nowhere/api.crt', NOW)).toMatchObject({ severity: 'error' });
  });
});
