// A gateway with all faults that alerts report and the healthy gateways lack, and one with a slow clock.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startGateway } from '../../gateway/gateway.ts';
import type { Gateway, GatewayOptions } from '../../gateway/gateway-contract.ts';
import { makeKeyPair } from '../support/key-pairs.ts';

const DAY_MS = 86_400_000;
export const day = (fromNow: number): string =>
  new Date(Date.now() + fromNow * DAY_MS).toISOString().slice(0, 10);

const CONFIG = `public: https://localhost
listeners:
  https: { address: "127.0.0.1:0", tls: { certificates: [{ names: [localhost], cert: ./ends-soon.crt, key: ./ends-soon.key }] } }
  http: { address: "127.0.0.1:0", mode: serve }
  admin: { address: "127.0.0.1:0" }
data: "\${env:DATA}"
store: embedded
guard: off
trusted_proxies: ["127.0.0.1"]
overload: { requests: 30, lag: 1m }
identity: { keys: { header: X-API-Key } }
notify: { email: { smtp: "smtp://127.0.0.1:\${env:DEAD}", from: api@example.com } }
policies: ./policies/*.yaml
`;

const DATES = `successor: v2, guide: "https://docs.example.com/"`;
const policyOf = (api: string, target: string, v1: string, more: string): string => `api: ${api}
audience: internal
base: /api/${api}
resolve: [{ path: "/api/{version}/${api}" }, { default: v2 }]
upstreams:
  v1: { targets: ["${target}"], path: /echo }
  v2: { targets: ["${target}"], path: /echo }
rules: { notice-period: off }
versions:
  v1: { released: 2024-06-01, ${v1}, ${DATES} }
  v2: { released: 2025-06-01 }
${more}`;

const ENDS_SOON = `deprecated: ${day(-300)}, sunset: ${day(10)}`;
const HAS_ENDED = `deprecated: ${day(-300)}, sunset: ${day(-1)}`;
/** A limit that is used up at once, so that calls are answered from memory. */
const USED_UP = 'access: public\nlimits: { rate: 1/1h, by: everyone }\n';

export interface SickGateway {
  /** `host:port` of the metrics. */
  readonly scraped: string;
  /** Sends a request over plain HTTP. Returns the status. */
  readonly call: (path: string, headers?: Readonly<Record<string, string>>) => Promise<number>;
  /** Sends a write to the admin API. Returns the body. */
  readonly write: (path: string, body: object) => Promise<Readonly<Record<string, unknown>>>;
  /** Sends `count` pipelined requests, each from another client if `clients` is the number of the first. */
  readonly flood: (path: string, count: number, clients?: number) => Promise<void>;
  readonly loseDataFolder: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const started = async (options: GatewayOptions): Promise<Gateway> => {
  const gateway = await startGateway(options);
  if (gateway.kind === 'running') return gateway.gateway;
  throw new Error(gateway.problems.map(({ message }) => message).join('\n'));
};

/** `dead`: a local port at which nothing listens. */
export async function startSickGateway(folder: string, upstream: string, dead: number): Promise<SickGateway> {
  const policies = join(folder, 'policies');
  const data = join(folder, 'data');
  await mkdir(policies, { recursive: true });
  const configFile = join(folder, 'gateway.yaml');
  const write = (name: string, text: string) => writeFile(join(policies, name), text);
  const pair = await makeKeyPair({ names: ['localhost'], until: Date.now() + 5 * DAY_MS });
  await writeFile(join(folder, 'ends-soon.crt'), pair.cert);
  await writeFile(join(folder, 'ends-soon.key'), pair.key, { mode: 0o600 });
  await writeFile(configFile, CONFIG);
  await write('ended.yaml', policyOf('ended', upstream, HAS_ENDED, 'access: public\n'));
  await write('flooded.yaml', policyOf('flooded', upstream, ENDS_SOON, USED_UP));
  await write(
    'mailed.yaml',
    policyOf('mailed', upstream, ENDS_SOON, 'access: { identity: keys, scopes: any }\n'),
  );
  await write(
    'down.yaml',
    `api: down\nbase: /api/down\naccess: public\nversions: none\nupstreams: { down: { targets: ["http://127.0.0.1:${dead}"], health: /echo } }\n`,
  );
  const broken = policyOf('broken', upstream, ENDS_SOON, 'access: public\n');
  await write('broken.yaml', broken);
  // The reader of the log has stopped reading.
  const log = join(folder, 'log');
  execFileSync('mkfifo', [log]);
  const reader = openSync(log, 'r+');
  const options = { configFile, environment: { DATA: data, DEAD: String(dead) }, cwd: folder };
  await (await started({ ...options, log: { write: () => undefined } })).close();
  await write('broken.yaml', broken.replace('sunset:', 'sunsett:'));
  const gateway = await started({ ...options, log });
  const { http, admin } = gateway.facts.listeners;
  const port = http?.address.port ?? 0;
  const scraped = `127.0.0.1:${admin?.address.port}`;
  const token = (await readFile(join(data, 'admin-token'), 'utf8')).trim();
  return {
    scraped,
    call: async (path, headers = {}) => {
      const answer = await fetch(`http://localhost:${port}${path}`, { headers });
      await answer.arrayBuffer();
      return answer.status;
    },
    write: async (path, body) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const answer = await fetch(`http://${scraped}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${text}`);
      return JSON.parse(text);
    },
    flood: (path, count, clients) => flood(port, path, count, clients),
    loseDataFolder: () => rm(data, { recursive: true }),
    close: async () => {
      closeSync(reader);
      await gateway.close();
    },
  };
}

const AT_ONCE = 100;

async function flood(port: number, path: string, count: number, clients: number | undefined): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sent = 0;
  let answered = 0;
  const send = (): void => {
    let batch = '';
    for (let n = 0; n < AT_ONCE && sent < count; n += 1, sent += 1) {
      const client = clients === undefined ? '' : `X-Forwarded-For: ${addressOf(clients + sent)}\r\n`;
      batch += `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${client}\r\n`;
    }
    socket.write(batch);
  };
  let rest = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    rest += text;
    const parts = rest.split('HTTP/1.1 ');
    answered += parts.length - 1;
    rest = (parts.at(-1) ?? '').slice(-8);
    if (answered >= count) resolve();
    else if (answered === sent) send();
  });
  socket.on('error', reject).on('close', () => reject(new Error(`${answered} of ${count} were answered`)));
  send();
  await promise.finally(() => socket.destroy());
}

const addressOf = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

/** A gateway whose clock is forty days late, so that it serves a version that ended yesterday. */
export async function startLateGateway(
  folder: string,
  upstream: string,
): Promise<Pick<SickGateway, 'scraped' | 'close'>> {
  await mkdir(join(folder, 'policies'), { recursive: true });
  const configFile = join(folder, 'gateway.yaml');
  await writeFile(
    configFile,
    'public: https://localhost\nlisteners: { https: { address: "127.0.0.1:0" }, admin: { address: "127.0.0.1:0" } }\npolicies: ./policies/*.yaml\n',
  );
  await writeFile(
    join(folder, 'policies/ended.yaml'),
    policyOf('ended', upstream, HAS_ENDED, 'access: public\n'),
  );
  const gateway = await started({
    configFile,
    environment: {},
    cwd: folder,
    log: { write: () => undefined },
    lifecycleClock: { now: () => Date.now() - 40 * DAY_MS, description: 'late', isObeyed: false },
  });
  return { scraped: `127.0.0.1:${gateway.facts.listeners.admin?.address.port}`, close: gateway.close };
}
