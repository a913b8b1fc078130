// One gateway that loads the policies of many journeys by reloads, which is faster than a gateway for each.
import { cp, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasPlan, type LoadedPlan, loadAll } from '../../gateway/plan/load.ts';
import { bringPolicies } from './brought-policies.ts';
import { type RunningGateway, runGateway } from './gateway.ts';
import { type Client, overHttp1, overHttp2 } from './http-client.ts';
import { JOURNEYS, type PolicyFolder } from './policy-folders.ts';
import type { WellUpstreams } from './well-upstreams.ts';

export interface Shown {
  readonly gateway: RunningGateway;
  /** The same documents, loaded as `explain` loads them. */
  readonly loaded: LoadedPlan;
  /** HTTP/1.1 and HTTP/2 clients, or plain HTTP/1.1 without TLS; with SNI `servername` unless it is empty. */
  readonly clients: (servername: string) => readonly Client[];
  readonly plain: () => Client;
}

export interface ReloadedGateway extends AsyncDisposable {
  /** Resolves when the policies of `folder` are in force. */
  readonly show: (folder: PolicyFolder) => Promise<Shown>;
}

export interface ReloadedOptions {
  readonly config: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly now: () => number;
  readonly upstreams: WellUpstreams;
}

export async function reloadedGateway(options: ReloadedOptions): Promise<ReloadedGateway> {
  const { config, environment, now, upstreams } = options;
  const stack = new AsyncDisposableStack();
  const root = await mkdtemp(join(tmpdir(), 'sundial-reloaded-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const live = join(root, 'live');
  // The policies of the samples refer to the descriptions there.
  await cp(join(JOURNEYS, '../../upstreams'), join(root, 'upstreams'), { recursive: true });
  const clients = new Map<string, readonly Client[]>();
  const hosts = new Set<string>();
  let gateway: RunningGateway | undefined;
  let shown = 0;

  async function bring(folder: PolicyFolder): Promise<string> {
    shown += 1;
    const place = join(root, String(shown));
    await bringPolicies(folder, place, upstreams);
    await symlink(place, `${live}.next`);
    await rename(`${live}.next`, live);
    return place;
  }

  async function follow(): Promise<RunningGateway> {
    if (gateway !== undefined) {
      const outcome = await gateway.reload();
      if (outcome.kind !== 'accepted')
        throw new Error(`${outcome.kind}: ${JSON.stringify(outcome.problems)}`);
      return gateway;
    }
    gateway = stack.use(await runGateway({ config, environment, policies: live, lifecycleNow: now }));
    return gateway;
  }

  return {
    show: async (folder) => {
      const place = await bring(folder);
      const running = await follow();
      const read = await loadAll({
        configFile: join(JOURNEYS, config),
        environment: {
          DATA: '/nowhere',
          STORE: 'embedded:/nowhere',
          POLICIES: join(place, '*.yaml'),
          ...environment,
        },
        now: now(),
      });
      if (!hasPlan(read)) throw new Error(JSON.stringify(read.problems));
      const brought = read.plan.apis.flatMap((api) => api.hosts).filter((host) => !hosts.has(host));
      if (brought.length > 0) {
        for (const host of brought) hosts.add(host);
        // Waits for the certificate of the new hosts; only new connections get it (TLS-4).
        await running.reload();
        clients.clear();
      }
      const plain = () => stack.use(overHttp1(running.http, { tls: false }));
      return {
        gateway: running,
        loaded: read,
        plain,
        clients: (servername) => {
          const known = clients.get(servername);
          if (known !== undefined) return known;
          const { https } = running;
          const secure = () => [overHttp1(https, { servername }), overHttp2(https, { servername })];
          const made = https === 0 ? [plain()] : secure().map((client) => stack.use(client));
          clients.set(servername, made);
          return made;
        },
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
