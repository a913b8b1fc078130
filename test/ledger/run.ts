// `npm run test:ledger [-- <calls> [<part of a name>]]`: compares the ledger with clients.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import type { PersistentStores } from '../../gateway/stores/stores.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { startIssuer } from '../bench/issuer.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { freePorts } from '../support/ports.ts';
import { startRedis } from '../support/redis-server.ts';
import { type Called, type Caller, type Counts, callAll, countsIn } from './callers.ts';
import { manyConsumers } from './many-consumers.ts';

const LONGEST_RUN_MS = 900_000;
const TOTAL = Number(process.argv[2] ?? 100_000);
const WANTED = process.argv[3] ?? '';
const CONSUMERS = 30;
const AT_ONCE = 48;
/** A flush every second, and its duration. */
const INTERVAL_MS = 1250;

const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const fail = (why: unknown): never => {
  throw why instanceof Error ? why : new Error(String(why));
};

/** The common environment of all gateways. */
let environment: Readonly<Record<string, string>>;
let callers: readonly Caller[];

async function start(more: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  const gateway = startProcess(['run', '-c', 'test/ledger/gateway.yaml'], { ...environment, ...more });
  while (!gateway.stderr.includes('Sundial is running.'))
    await Promise.race([setTimeout(20), gateway.ended.then(() => fail(gateway.stderr))]);
  return gateway;
}

async function end(gateway: GatewayProcess): Promise<void> {
  gateway.kill('SIGTERM');
  await gateway.ended;
}

/** Makes all calls. After a third of the responses, `then` runs in parallel. */
async function callWith(ports: () => readonly number[], then: () => Promise<void>): Promise<Called> {
  let happening: Promise<void> | undefined;
  const onAnswered = (answered: number): void => {
    if (answered > TOTAL / 3) happening ??= then();
  };
  const called = await callAll(callers, ports, { total: TOTAL, atOnce: AT_ONCE, onAnswered });
  await happening;
  return called;
}

/** Retries, because a store may respond too late on a busy machine. */
async function read(stores: PersistentStores, attempts = 20): Promise<Counts> {
  try {
    return await countsIn(stores.ledger);
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || attempts === 0) throw error;
    await setTimeout(500);
    return read(stores, attempts - 1);
  }
}

async function compare(
  name: string,
  called: Called,
  stores: PersistentStores,
  killed: boolean,
): Promise<boolean> {
  const kept = await read(stores).finally(stores.close);
  const [counted, inLedger] = [sumOf(called.counts), sumOf(kept)];
  const wrong = Object.keys({ ...called.counts, ...kept }).filter((key) => called.counts[key] !== kept[key]);
  const atMost = killed ? called.answeredShortlyBefore(INTERVAL_MS) : 0;
  const short = counted - inLedger;
  // A call counts even if its response did not arrive.
  const isKept = killed ? short <= atMost && -short <= AT_ONCE : short === 0 && wrong.length === 0;
  say(
    `${isKept ? 'kept  ' : 'BROKEN'}  ${name}: clients counted ${counted}, the ledger ${inLedger}` +
      (killed
        ? `: short by ${short}. The killed one had sent ${atMost} responses within its last ${INTERVAL_MS} ms`
        : ', alike for each consumer and operation') +
      `; ${called.failed} calls were repeated`,
  );
  return isKept;
}

async function onRedis(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.adopt(await startRedis(), (server) => server.stop());
  const ports = await freePorts(3);
  const gateways = await Promise.all(
    ports.map(async (port) => {
      const folder = await mkdtemp(join(tmpdir(), 'sundial-ledger-'));
      stack.defer(() => rm(folder, { recursive: true, force: true }));
      return stack.use(await start({ STORE: redis.url, DATA: folder, PORT: String(port) }));
    }),
  );
  let open = ports;
  const called = await callWith(
    () => open,
    async () => {
      open = ports.slice(1);
      gateways[0]?.kill(signal);
      await gateways[0]?.ended;
    },
  );
  for (const gateway of gateways.slice(1)) await end(gateway);
  const connection = await connectRedis(redis.url, { onState: () => undefined, answerWithinMs: 5000 });
  return await compare(
    name,
    called,
    await openSharedState(connection, { onFault: fail }),
    signal === 'SIGKILL',
  );
}

async function embedded(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-ledger-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const [port = 0] = await freePorts(1);
  const own = { STORE: `embedded:${folder}`, DATA: folder, PORT: String(port), WORKERS: '3' };
  let gateway = await start(own);
  stack.defer(() => gateway[Symbol.asyncDispose]());
  const called = await callWith(
    () => [port],
    async () => {
      if (signal === 'SIGKILL') {
        const [worker] = await childrenOf(gateway.pid);
        process.kill(worker ?? fail('the gateway has no worker'), signal);
        return;
      }
      await end(gateway);
      gateway = await start(own);
    },
  );
  await end(gateway);
  const state = await openEmbeddedState(folder, { onState: () => undefined, onFault: fail });
  return await compare(name, called, state, signal === 'SIGKILL');
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.split(' ').filter(Boolean).map(Number);
}

const PARTS: Readonly<Record<string, (name: string) => Promise<boolean>>> = {
  'three gateways on Redis, one ended by SIGTERM': (name) => onRedis(name, 'SIGTERM'),
  'three gateways on Redis, one killed by SIGKILL': (name) => onRedis(name, 'SIGKILL'),
  'three workers, embedded, all ended by SIGTERM and started again': (name) => embedded(name, 'SIGTERM'),
  'three workers, embedded, one killed by SIGKILL': (name) => embedded(name, 'SIGKILL'),
  '100,000 consumers': () => manyConsumers(say),
};

const timer = globalThis.setTimeout(() => {
  process.stderr.write(`not finished after ${LONGEST_RUN_MS / 1000} s\n`);
  process.exit(1);
}, LONGEST_RUN_MS);
timer.unref();

await using stack = new AsyncDisposableStack();
const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
const issuer = await startIssuer({ audience: 'sundial-samples' });
stack.defer(issuer.stop);
callers = (await issuer.tokens(CONSUMERS)).map((token, index) => ({
  consumer: `consumer-${String(index).padStart(2, '0')}`,
  authorization: `Bearer ${token}`,
}));
environment = {
  ECHO: echo.url,
  ISSUER: issuer.issuer,
  POLICIES: join(import.meta.dirname, '../journeys/ledger/*.yaml'),
};
let broken = 0;
for (const [name, run] of Object.entries(PARTS)) {
  if (name.includes(WANTED) && !(await run(name))) broken += 1;
}
process.exitCode = broken === 0 ? 0 : 1;
