// Everything that a soak needs: upstreams, issuer, store, certificates, policies and the gateway.
import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Child, startChild, stopChild, stopChildren } from '../../bench/children.ts';
import { type CertificateFolder, certificateFolder } from '../../support/certificate-folder.ts';
import { startTestIssuer, type TestIssuer } from '../../support/issuer.ts';
import { freePorts } from '../../support/ports.ts';
import { type RunningRedis, startRedis } from '../../support/redis-server.ts';
import { type SoakGateway, startSoakGateway } from './gateway.ts';

export const ADMIN_TOKEN = 'soak-token-soak-token-soak-token-soak';

export interface Fixture extends AsyncDisposable {
  readonly gateway: SoakGateway;
  readonly issuer: TestIssuer;
  readonly certificates: CertificateFolder;
  readonly redis: RunningRedis | undefined;
  readonly fickle: Fickle;
  /** Writes the policy of `orders` in this edition, by a rename as editors do. */
  readonly writeEdition: (edition: number) => Promise<void>;
  /** Writes an invalid policy file; undefined removes it. */
  readonly writeBroken: (text: string | undefined) => Promise<void>;
  /** Error lines of the gateway's log, each kind once with its count. */
  readonly errorLines: () => Promise<readonly string[]>;
}

/** The upstream of the API of the same name. */
export interface Fickle {
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly freeze: () => void;
  readonly thaw: () => void;
}

export interface FixtureOptions {
  readonly store: 'embedded' | 'redis';
  readonly workers: number;
}

export async function openFixture({ store, workers }: FixtureOptions): Promise<Fixture> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-soak-'));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const certificates = opening.use(await certificateFolder());
  await certificates.place('api', ['api.example.com']);
  const policies = join(folder, 'policies');
  await mkdir(policies);
  await cp(join(import.meta.dirname, 'policies'), policies, { recursive: true });
  const written = await readFile(join(policies, 'orders.yaml'), 'utf8');
  const browned = await readFile(join(policies, 'browned.yaml'), 'utf8');
  const replace = async (name: string, text: string): Promise<void> => {
    await writeFile(join(folder, name), text);
    await rename(join(folder, name), join(policies, name));
  };
  const writeEdition = (edition: number) =>
    replace('orders.yaml', written.replaceAll('EDITION', String(edition)));
  await writeEdition(1);
  await replace(
    'browned.yaml',
    browned.replace('HOUR_AGO', hoursFromNow(-1)).replace('IN_12_HOURS', hoursFromNow(12)),
  );

  const issuer = opening.adopt(await startTestIssuer(), (running) => running.close());
  const redis =
    store === 'redis' ? opening.adopt(await startRedis(), (running) => running.stop()) : undefined;
  opening.defer(stopChildren);
  const [steady, talk] = await Promise.all([startUpstream('echo'), startUpstream('talk')]);
  const [port = 0] = await freePorts(1);
  let child = await startUpstream('echo', String(port));
  const fickle: Fickle = {
    kill: async () => {
      child.process.kill('SIGKILL');
      await stopChild(child.process);
    },
    start: async () => {
      child = await startUpstream('echo', String(port));
    },
    freeze: () => void child.process.kill('SIGSTOP'),
    thaw: () => void child.process.kill('SIGCONT'),
  };

  const logFile = join(folder, 'gateway.log');
  const gateway = opening.use(
    await startSoakGateway(join(import.meta.dirname, 'gateway.yaml'), logFile, {
      STORE: redis?.url ?? `embedded:${folder}/data`,
      WORKERS: String(workers),
      DATA: join(folder, 'data'),
      TOKEN: ADMIN_TOKEN,
      ISSUER: issuer.url,
      POLICIES: policies,
      CERTIFICATES: certificates.path,
      STEADY: originOf(steady),
      TALK: originOf(talk),
      FICKLE: `http://127.0.0.1:${port}`,
    }),
  );
  const closing = opening.move();
  return {
    gateway,
    issuer,
    certificates,
    redis,
    fickle,
    writeEdition,
    writeBroken: (text) =>
      text === undefined ? rm(join(policies, 'broken.yaml'), { force: true }) : replace('broken.yaml', text),
    errorLines: () => errorLines(logFile),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** In the format of policies. */
function hoursFromNow(hours: number): string {
  const instant = new Date(Date.now() + hours * 3_600_000).toISOString();
  return `"${instant.slice(0, 16)}:00Z"`;
}

async function startUpstream(...args: readonly string[]): Promise<Child> {
  const child = await startChild([join(import.meta.dirname, 'upstream.ts'), ...args], {
    output: 'ignore',
    environment: {},
    prefix: [],
    announces: true,
  });
  // A frozen child would not notice the end of its parent.
  const kill = (): void => void child.process.kill('SIGKILL');
  process.once('exit', kill);
  child.process.once('exit', () => process.off('exit', kill));
  return child;
}

function originOf({ port }: Child): string {
  return `http://127.0.0.1:${port}`;
}

interface ErrorLine {
  readonly message: string;
  readonly api?: string;
  readonly fault?: string;
  readonly error?: { readonly message?: string };
}

async function errorLines(logFile: string): Promise<readonly string[]> {
  const counts = new Map<string, number>();
  for await (const line of createInterface(createReadStream(logFile))) {
    if (!/"level":"(error|fatal)"/.test(line)) continue;
    const { message, api = '', fault = '', error }: ErrorLine = JSON.parse(line);
    const sort = [message, api, fault, fault === '' ? (error?.message ?? '') : ''].join(' ').trimEnd();
    counts.set(sort, (counts.get(sort) ?? 0) + 1);
  }
  return [...counts].map(([sort, count]) => `${count} x ${sort}`);
}
