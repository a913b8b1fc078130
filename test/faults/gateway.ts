// The gateway process of a row, with data folder, clients and admin token; it ends with the run.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdminWrite, adminWriter } from '../support/admin-write.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';

export interface FaultyFixture extends AsyncDisposable {
  readonly process: GatewayProcess;
  readonly https: number;
  readonly admin: Client;
  readonly write: (write: AdminWrite) => Promise<Answer>;
  /** The value of a series in /metrics. */
  readonly metric: (series: string) => Promise<number | undefined>;
}

const running = new Set<GatewayProcess>();
process.once('exit', () => {
  for (const each of running) each.kill('SIGKILL');
});

/** Runs `sundial <arguments_>` with a temporary data folder. */
export async function startFaulty(
  stack: AsyncDisposableStack,
  environment: Readonly<Record<string, string>>,
  arguments_: readonly string[] = ['run', '-c', 'test/journeys/gateway.yaml'],
): Promise<{ readonly started: GatewayProcess; readonly data: string }> {
  const data = await mkdtemp(join(tmpdir(), 'sundial-faults-'));
  stack.defer(() => rm(data, { recursive: true, force: true }));
  const started = stack.use(
    startProcess(arguments_, {
      DATA: data,
      STORE: `embedded:${data}`,
      ISSUER: 'http://127.0.0.1:9',
      ...environment,
    }),
  );
  running.add(started);
  void started.ended.then(() => running.delete(started));
  return { started, data };
}

/** Resolves when it is ready. */
export async function openFaulty(
  environment: Readonly<Record<string, string>>,
  configuration = 'test/journeys/gateway.yaml',
): Promise<FaultyFixture> {
  await using stack = new AsyncDisposableStack();
  const { started, data } = await startFaulty(stack, environment, ['run', '-c', configuration]);
  const { https, admin: port } = await started.ready;
  const admin = stack.use(overHttp1(port, { tls: false }));
  const write = adminWriter(admin, (await readFile(join(data, 'admin-token'), 'utf8')).trim());
  const moved = stack.move();
  return {
    process: started,
    https,
    admin,
    write,
    metric: async (series) => {
      const { text } = await admin.ask({ path: '/metrics' });
      const line = text.split('\n').find((each) => each.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** Polls `look`; resolves with whether it became true in time. */
export async function becomes(
  look: () => Promise<boolean> | boolean,
  { withinMs, everyMs = 10 }: { readonly withinMs: number; readonly everyMs?: number },
): Promise<boolean> {
  const until = performance.now() + withinMs;
  for (;;) {
    if (await look()) return true;
    if (performance.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
