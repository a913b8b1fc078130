// Requests with a misspelt version never get the default: random policies, by a gateway and by `explain`.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../../gateway/cli/explain/explain.ts';
import { hasPlan, type LoadedPlan, loadAll } from '../../gateway/plan/load.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { samples } from '../support/fuzz.ts';
import { runGateway } from '../support/gateway.ts';
import { type Ask, type Client, overHttp1 } from '../support/http-client.ts';
import { inOrder } from './misspelt-versions/in-order.ts';
import { drawnPolicy, written } from './misspelt-versions/policies.ts';
import { misspelt, namesLike, noVersion } from './misspelt-versions/spellings.ts';

const POLICIES = 8;
const DAY = Date.UTC(2026, 10, 20);
const drawn = samples(
  drawnPolicy.chain((policy) =>
    fc.record({
      policy: fc.constant(policy),
      bad: noVersion,
      good: fc.constantFrom(...policy.labels.filter((label) => label !== policy.default)),
    }),
  ),
  POLICIES,
);
const cases = drawn.drawn.map((each, index) => ({ ...each, api: `api${index}` }));
const seed = `drawn with the seed ${drawn.seed}`;

const stack = new AsyncDisposableStack();
let client: Client;
let loaded: LoadedPlan;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-misspelt-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  for (const { api, policy } of cases) await writeFile(join(folder, `${api}.yaml`), written(api, policy));
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const gateway = stack.use(await runGateway({ policies: folder, environment: { ECHO: echo.url } }));
  client = stack.use(overHttp1(gateway.https));
  const read = await loadAll({
    configFile: join(import.meta.dirname, 'gateway.yaml'),
    environment: {
      DATA: folder,
      STORE: `embedded:${folder}`,
      ISSUER: 'http://127.0.0.1:9',
      ECHO: echo.url,
      POLICIES: join(folder, '*.yaml'),
    },
    now: DAY,
  });
  if (!hasPlan(read)) throw new Error('the drawn policies are refused');
  loaded = read;
});
afterAll(() => stack.disposeAsync());

async function explained({ path, method = 'GET', headers = {} }: Ask): Promise<unknown> {
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  );
  const { text } = await explain(loaded, {
    request: `${method} ${path}`,
    headers: ['Host: 127.0.0.1', ...fields].slice(fields.some((each) => each.startsWith('host')) ? 1 : 0),
    as: undefined,
    scopes: undefined,
    paused: undefined,
    format: 'json',
    now: DAY,
  });
  const { answer } = JSON.parse(text);
  return answer.kind === 'forwarded' ? 200 : answer.status;
}

describe.each(cases)('$api: $policy, $bad, $good', ({ api, policy, bad, good }) => {
  it('VER-1, STAT-1: a misspelt version is refused with a list, and never gets the default', async () => {
    const known = policy.labels.toReversed();
    const wrong: unknown[] = [];
    for (const { ask, status, lists } of misspelt(api, policy, bad, good)) {
      const answer = await client.ask(ask);
      const { supportedVersions } = answer.status === 200 ? {} : answer.json;
      const told = await explained(ask);
      const isListed = !lists || String(supportedVersions) === String(known);
      if (answer.status !== status || told !== status || !isListed)
        wrong.push({ ask, status, got: answer.status, told, supportedVersions });
    }
    expect(wrong, seed).toEqual([]);
  });

  it('NEG-2, NEG-3: a request without a version gets the default, others get their version', async () => {
    for (const { ask, served } of inOrder(api, policy, good)) {
      const { status, json } = await client.ask(ask);
      expect([ask, status, /[?&]served=([^&]*)/.exec(String(json.target))?.[1]], seed).toEqual([
        ask,
        200,
        served,
      ]);
    }
  });

  it('VER-8: a parameter like that of the service gets 400; the exact one is replaced', async () => {
    const wrong: unknown[] = [];
    for (const name of namesLike('served')) {
      const ask = { path: `/api/${api}?a=1&${name}=${good}&b=2` };
      const { status, text } = await client.ask(ask);
      const told = await explained(ask);
      if (
        status !== 400 ||
        told !== 400 ||
        !text.includes('read a query parameter of this request as its version')
      )
        wrong.push({ ask, status, told });
    }
    expect(wrong, seed).toEqual([]);
    const { status, json } = await client.ask({
      path: `/api/${api}?served=${good}&x=1;serve=2&preserved[]=3`,
    });
    const target = `/echo?served=${policy.default}&x=1;serve=2&preserved[]=3`;
    expect([status, json.target], seed).toEqual([200, target]);
  });
});
