// A gateway with a policy that tests write, and the requests and commands of an operator.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import { type Answer, overHttp1 } from '../../support/http-client.ts';

const BESIDE = join(import.meta.dirname, '../admin-isolation');
export const CONFIG = join(BESIDE, 'gateway.yaml');

export interface Shown {
  readonly revision: string;
  readonly documents: readonly {
    readonly file: string;
    readonly values: unknown;
    readonly origins: Readonly<Record<string, string>>;
  }[];
}

export interface ConfiguredFixture extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly token: string;
  /** The folder of its policy, `orders.yaml`. */
  readonly folder: string;
  /** The policy at the start. */
  readonly policy: string;
  readonly write: (text: string) => Promise<void>;
  readonly ask: (method: string, path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  /** With the token unless `headers` says otherwise. */
  readonly reload: (headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly config: () => Promise<Shown>;
  readonly revision: () => Promise<unknown>;
}

export async function openConfigured(): Promise<ConfiguredFixture> {
  const stack = new AsyncDisposableStack();
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'sundial-config-')), (made) =>
    rm(made, { recursive: true }),
  );
  const policy = await readFile(join(BESIDE, 'policies/orders.yaml'), 'utf8');
  const write = (text: string) => writeFile(join(folder, 'orders.yaml'), text);
  await write(policy);
  const environment = { ECHO: 'http://127.0.0.1:9' };
  const gateway = stack.use(await runGateway({ config: CONFIG, policies: folder, environment }));
  const token = await gateway.adminToken();
  const ask: ConfiguredFixture['ask'] = async (method, path, headers = {}) => {
    await using admin = overHttp1(gateway.admin, { tls: false });
    return await admin.ask({ method, path, headers });
  };
  return {
    gateway,
    token,
    folder,
    policy,
    write,
    ask,
    reload: (headers = { authorization: `Bearer ${token}` }) => ask('POST', '/-/reload', headers),
    config: async () => JSON.parse((await ask('GET', '/-/config')).text),
    revision: async () => (await ask('GET', '/-/ready')).json.plan,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
