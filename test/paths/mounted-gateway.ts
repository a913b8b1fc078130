// A real gateway in front of services of test/paths, with their policies and an issuer of tokens.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../gateway/gateway.ts';
import type { PlaneName } from '../../gateway/plan/bounds.ts';
import { renderProblems } from '../../gateway/plan/problems.ts';
import { overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import type { Caller } from './judged.ts';
import { apisOf, type MountedApi, type MountedService, SCOPE } from './routes.ts';

export interface MountedGateway extends AsyncDisposable {
  readonly port: number;
  readonly apis: (label: string) => readonly MountedApi[];
  readonly callers: readonly Caller[];
  /** Requests so far, by plane. */
  readonly carried: () => Promise<Readonly<Record<PlaneName, number>>>;
}

const CARRIED = /^sundial_plane_requests_total\{plane="(fast|general)".*\} (\d+)$/gm;

/** `plane`: undefined for the default. @throws Error with the rendered problems if a policy is refused */
export async function mountGateway(
  services: readonly MountedService[],
  plane?: PlaneName,
): Promise<MountedGateway> {
  await using stack = new AsyncDisposableStack();
  const issuer = stack.adopt(await startTestIssuer(), (each) => each.close());
  const folder = await mkdtemp(join(tmpdir(), 'sundial-paths-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const apis = new Map(services.map((service) => [service.label, apisOf(service)]));
  const policies = [...apis.values()].flat().flatMap((api) => api.policies);
  for (const policy of policies)
    await writeFile(join(folder, `${policy.api}.api.yaml`), JSON.stringify(policy));
  const configFile = join(folder, 'gateway.yaml');
  await writeFile(
    configFile,
    JSON.stringify({
      public: 'https://127.0.0.1',
      listeners: { https: { address: '127.0.0.1:0' }, admin: { address: '127.0.0.1:0' } },
      data: folder,
      identity: { main: { issuer: issuer.url, audience: 'sundial-samples' } },
      guard: 'off',
      ...(plane !== undefined && { bounds: { plane } }),
      policies: './*.api.yaml',
    }),
  );
  const started = await startGateway({ configFile, environment: {}, log: { write: () => undefined } });
  if (started.kind === 'rejected') throw new Error(renderProblems(started.problems, { colour: false }));
  stack.defer(() => started.gateway.close());
  const authorization = async (scope: string) => ({
    authorization: `Bearer ${await issuer.sign({ scope })}`,
  });
  const callers: readonly Caller[] = [
    { name: 'anonymous', headers: {}, holds: 'nothing' },
    { name: 'a caller without the scope', headers: await authorization('other'), holds: 'token' },
    { name: 'a caller with the scope', headers: await authorization(SCOPE), holds: 'scope' },
  ];
  const moved = stack.move();
  const { https, admin } = started.gateway.facts.listeners;
  return {
    port: https?.address.port ?? 0,
    apis: (label) => apis.get(label) ?? [],
    callers,
    async carried() {
      await using client = overHttp1(admin?.address.port ?? 0, { tls: false });
      const counts = { fast: 0, general: 0 };
      for (const [, plane, count] of (await client.ask({ path: '/metrics' })).text.matchAll(CARRIED))
        counts[plane as PlaneName] += Number(count);
      return counts;
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}
