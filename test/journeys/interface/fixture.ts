// All services of the demo behind one gateway, with a day that journeys choose and three more policies.
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nextAttemptDelay } from '../../../upstreams/webhooks/schedule.ts';
import { type Answer, type Ask, type Client, overHttp1 } from '../../support/http-client.ts';
import { type SampleFixture, startSampleFixture } from '../../support/sample-fixture.ts';
import { type Subscriber, startSubscriber } from '../../support/subscriber.ts';
import { CLOSED, SALES, SLOW } from './policies.ts';

const ROOT = join(import.meta.dirname, '../../..');
export const TODAY = Date.UTC(2026, 10, 20);
/** The retry schedule of deliveries runs this much faster. */
const HASTE = 1_000;

export interface Asking extends Partial<Omit<Ask, 'path'>> {
  readonly json?: unknown;
  /** The lifecycle instant. Default: TODAY. */
  readonly at?: number;
  /** Without the token of initech, which every other request has. */
  readonly anonymous?: true;
}

export interface InterfaceFixture extends AsyncDisposable {
  readonly samples: SampleFixture;
  readonly ask: (path: string, asking?: Asking) => Promise<Answer>;
  /** Refuses the first two deliveries. */
  readonly subscriber: Subscriber;
  /** Edits and reloads the policy of the sales. Returns whether the gateway accepted it. */
  readonly rewriteSales: (edit: (text: string) => string) => Promise<boolean>;
}

export async function startInterfaceFixture(): Promise<InterfaceFixture> {
  const stack = new AsyncDisposableStack();
  const root = await mkdtemp(join(tmpdir(), 'sundial-interface-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  await copyProject(root);

  let now = TODAY;
  const samples = stack.use(
    await startSampleFixture({
      lifecycleNow: () => now,
      config: join(root, 'config/gateway.yaml'),
      environment: { UNTIL: Temporal.Now.instant().add({ hours: 1 }).round('second').toString() },
      tuning: { nextDelay: (failed) => (nextAttemptDelay(failed) ?? 0) / HASTE || undefined },
    }),
  );
  const { pair, alsoAllow } = samples.receiver;
  const subscriber = stack.use(await startSubscriber(pair, (before) => (before < 2 ? 503 : 200)));
  alsoAllow(`localhost:${subscriber.port}`);
  const client: Client = stack.use(overHttp1(samples.gateway.https));
  const token = await samples.authorizationOf('initech');
  const sales = join(root, 'policies/sales.yaml');
  const written = await readFile(sales, 'utf8');
  return {
    samples,
    subscriber,
    ask: async (path, { json, at = TODAY, anonymous, headers, ...rest } = {}) => {
      now = at;
      const answer = await client.ask({
        path,
        headers: {
          ...(anonymous ? {} : { authorization: token }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        ...rest,
      });
      now = TODAY;
      return answer;
    },
    rewriteSales: async (edit) => {
      await writeFile(`${sales}.new`, edit(written));
      await rename(`${sales}.new`, sales);
      await samples.gateway.reload();
      return (await samples.gateway.metric('sundial_config_last_reload_successful')) === 1;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Copies the gateway file, policies and descriptions to a folder where policies can be added. */
async function copyProject(root: string): Promise<void> {
  await mkdir(join(root, 'config'));
  await cp(join(ROOT, 'config/gateway.yaml'), join(root, 'config/gateway.yaml'));
  await cp(join(ROOT, 'policies'), join(root, 'policies'), { recursive: true });
  await cp(join(ROOT, 'upstreams'), join(root, 'upstreams'), { recursive: true });
  const added = { sales: SALES, slow: SLOW, closed: CLOSED };
  for (const [name, text] of Object.entries(added))
    await writeFile(join(root, `policies/${name}.yaml`), text);
}
