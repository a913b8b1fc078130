// Temporary folders with configuration files for tests, loaded with the environment of the test only.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Loaded, loadAll } from '../../gateway/plan/load.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { Problem } from '../../gateway/plan/problems.ts';
import type { ReadFile } from '../../gateway/plan/read/files.ts';

export const NOW = Date.parse('2026-11-20T00:00:00Z');

export const GATEWAY = `public: https://api.example.com
listeners: { https: { address: "127.0.0.1:8443" }, admin: { address: "127.0.0.1:9901" } }
identity: { main: { issuer: https://auth.example.com, audience: api } }
policies: ../policies/*.yaml
`;

export const ORDERS = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { header: API-Version }, { default: v2 } ]
access: { identity: main, scopes: { read: [orders:read] } }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1: { released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-01-15, guide: https://docs.example.com/v2, successor: v2 }
  v2: { released: 2026-01-15 }
`;

export interface Workspace {
  readonly folder: string;
  readonly configFile: string;
  readonly write: (path: string, text: string | Uint8Array) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
  readonly load: (environment?: Record<string, string>, readFile?: ReadFile) => Promise<Loaded>;
  /** `file:line «marked text» severity: message (hint)` of every problem. */
  readonly problems: (environment?: Record<string, string>) => Promise<readonly string[]>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** Files by path in the folder. `config/gateway.yaml` has a default. */
export async function workspace(files: Readonly<Record<string, string | Uint8Array>>): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-plan-'));
  const configFile = join(folder, 'config/gateway.yaml');
  const write = async (path: string, text: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  for (const [path, text] of Object.entries({ 'config/gateway.yaml': GATEWAY, ...files }))
    await write(path, text);
  const load = (environment: Record<string, string> = {}, readFile?: ReadFile): Promise<Loaded> =>
    loadAll({ configFile, environment, now: NOW, cwd: folder, ...(readFile && { readFile }) });
  return {
    folder,
    configFile,
    write,
    remove: (path) => rm(join(folder, path)),
    load,
    problems: async (environment) => (await load(environment)).problems.map(sentence),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Loads both files from texts, without a disk. */
export const loadTexts = (
  policy: string,
  gateway: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Loaded> =>
  loadAll({
    configFile: '/nowhere/config/gateway.yaml',
    policyFiles: ['/nowhere/policies/orders.yaml'],
    environment,
    now: NOW,
    cwd: '/nowhere',
    readFile: async (path) => new TextEncoder().encode(path.endsWith('gateway.yaml') ? gateway : policy),
  });

/** @throws Error with the problems if `policy` is refused */
export async function planOf(...policies: readonly string[]): Promise<GatewayPlan> {
  await using files = await workspace(
    Object.fromEntries(policies.map((policy, index) => [`policies/orders${index || ''}.yaml`, policy])),
  );
  const { plan, problems } = await files.load();
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

export function sentence({ file, line, column, severity, message, hint, source }: Problem): string {
  const marked = source?.text.slice(column - 1, column - 1 + source.length) ?? '';
  return `${file}:${line} «${marked}» ${severity}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}
