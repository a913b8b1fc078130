// Starts this gateway in this process, in front of the suite's upstream, with both listeners.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { startGateway } from '../../gateway/gateway.ts';
import { renderProblems } from '../../gateway/plan/problems.ts';
import type { Listener } from './run-cases.ts';

export interface OurGateway extends AsyncDisposable {
  readonly plain: Listener;
  readonly tls: Listener;
}

export const HOST = 'api.example.com';
export const PREFIX = '/wire';

/**
 * `log`: gets complete lines.
 * @throws Error with the problems if the YAML beside this file is refused
 */
export async function startOurGateway(
  upstreamPort: number,
  log: (text: string) => void = () => undefined,
): Promise<OurGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-wire-'));
  const started = await startGateway({
    configFile: join(import.meta.dirname, 'gateway.yaml'),
    environment: {
      DATA: folder,
      UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
      PLANE: env.TEST_PLANE ?? 'fast',
    },
    log: { write: log },
  });
  if (started.kind === 'rejected') throw new Error(renderProblems(started.problems, { colour: false }));
  const { https, http } = started.gateway.facts.listeners;
  const listener = (port: number | undefined, tls: boolean): Listener => ({
    address: { host: '127.0.0.1', port: port ?? 0, tls, serverName: HOST },
    host: HOST,
    prefix: PREFIX,
  });
  return {
    plain: listener(http?.address.port, false),
    tls: listener(https?.address.port, true),
    [Symbol.asyncDispose]: async () => {
      await started.gateway.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
