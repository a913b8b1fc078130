// Several limits on one request: per address, for everyone, in shadow mode, by cost, as a sliding log.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../../gateway/cli/explain/explain.ts';
import { hasPlan, type LoadedPlan, loadAll } from '../../gateway/plan/load.ts';
import { renderProblems } from '../../gateway/plan/problems.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Explanation } from '../support/explained.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { LIMIT_POLICIES, limitPolicyText } from '../support/limit-policies.ts';

const stack = new AsyncDisposableStack();
const PROBLEM = { accept: 'application/problem+json' };
let gateway: RunningGateway;
let client: Client;
let echoUrl = '';

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  echoUrl = echo.url;
  gateway = stack.use(await runGateway({ policies: 'several-limits', environment: { ECHO: echoUrl } }));
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

const ask = (path: string, more: Partial<Parameters<Client['ask']>[0]> = {}) => client.ask({ path, ...more });
const lineOf = ({ headers }: Answer) => gateway.accessLine(headers['x-request-id']);
const decided = (version: string, policy: string, decision: string) =>
  gateway.metric(
    `sundial_ratelimit_decisions_total{api="jobs",version="${version}",policy="${policy}",decision="${decision}"}`,
  );

describe('a request that counts against several limits', () => {
  it('RL-2, RL-3, RL-7: has all limits and its own rest in its headers, but none in shadow', async () => {
    const first = await ask('/api/v2/jobs');
    expect(first).toMatchObject({
      status: 200,
      headers: {
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '3',
        'ratelimit-policy': '"default";q=60;w=3600, "all";q=120;w=3600',
        ratelimit: '"default";r=3;t=60',
      },
    });
    expect(await lineOf(first)).not.toHaveProperty('shadow_limited_by');
  });

  it('a limit in shadow counts and is logged, and refuses nothing', async () => {
    await ask('/api/v2/jobs');
    const third = await ask('/api/v2/jobs');
    expect(third).toMatchObject({ status: 200, headers: { 'x-ratelimit-remaining': '1' } });
    expect(await lineOf(third)).toMatchObject({ status: 200, shadow_limited_by: ['trial'] });
    expect(await decided('v2', 'trial', 'allowed')).toBe(2);
    expect(await decided('v2', 'trial', 'shadow_limited')).toBe(1);
    expect(await decided('v2', 'default', 'allowed')).toBe(3);
  });

  it('RL-1, RL-6: rate_limited by a shared limit says so, and uses no unit of the caller', async () => {
    const admitted = [await ask('/api/v3/jobs'), await ask('/api/v3/jobs')];
    expect(admitted.map(({ status }) => status)).toEqual([200, 200]);
    expect(admitted.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['1', '0']);
    const refused = await ask('/api/v3/jobs', { headers: PROBLEM });
    const wait = Number(refused.headers['retry-after']);
    expect(refused).toMatchObject({
      status: 429,
      headers: {
        'content-type': 'application/problem+json',
        'x-ratelimit-limit': '660',
        'x-ratelimit-remaining': '0',
        ratelimit: `"default";r=598;t=${wait}, "all";r=0;t=${wait}`,
      },
      json: {
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        title: 'Quota Exceeded',
        status: 429,
        error: 'Too Many Requests',
        message: `Rate limit exceeded. This limit is shared by all callers. Retry in ${wait} seconds.`,
        'violated-policies': ['all'],
        retryAfter: wait,
      },
    });
    expect(await lineOf(refused)).toMatchObject({ refusal: 'rate_limited', limited_by: ['all'] });
    expect(await decided('v3', 'all', 'limited')).toBe(1);
    expect(await decided('v3', 'default', 'limited')).toBe(0);
  });

  it('RL-11: the 429 of a lowered limit says that the version is deprecated', async () => {
    expect((await ask('/api/v1/jobs')).headers['ratelimit-policy']).toBe(
      '"deprecated";q=30;w=3600, "all";q=120;w=3600',
    );
    await ask('/api/v1/jobs');
    const refused = await ask('/api/v1/jobs', { headers: PROBLEM });
    const wait = Number(refused.headers['retry-after']);
    expect(refused).toMatchObject({
      status: 429,
      json: {
        message: `Rate limit exceeded. The limit is lower because this version is deprecated. Retry in ${wait} seconds.`,
        'violated-policies': ['deprecated'],
        migration_guide: 'https://docs.example.com/jobs',
      },
    });
  });

  it('RL-9: an operation with a higher cost takes all its units or none', async () => {
    const post = { method: 'POST' } as const;
    expect((await ask('/api/v4/jobs/bulk', post)).headers['x-ratelimit-remaining']).toBe('1');
    const refused = await ask('/api/v4/jobs/bulk', post);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(60);
    expect(await ask('/api/v4/jobs')).toMatchObject({
      status: 200,
      headers: { 'x-ratelimit-remaining': '0' },
    });
  });

  it('RL-8: a sliding log admits exactly its limit in its window', async () => {
    const answers: Answer[] = [];
    for (let call = 0; call < 3; call += 1)
      answers.push(await ask('/api/v4/jobs/login', { method: 'POST', headers: PROBLEM }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.json).toMatchObject({ 'violated-policies': ['login'] });
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(3500);
  });
});

/** explain.test.ts cannot compare what remains of a limit, because its requests share buckets. */
describe('`explain` predicts the limits of a first request, and the lines of the policy, for', () => {
  const quotas = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'ratelimit-policy', 'ratelimit'];
  const now = Date.UTC(2026, 10, 20);
  let folder = '';
  let loaded: LoadedPlan;
  let asked: Client;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sundial-limits-'));
    stack.defer(() => rm(folder, { recursive: true }));
    for (const row of LIMIT_POLICIES)
      await writeFile(join(folder, `${row[0]}.yaml`), limitPolicyText(row, echoUrl));
    asked = stack.use(overHttp1(stack.use(await runGateway({ policies: folder })).https));
    const variables = { DATA: '/nowhere', STORE: 'embedded:/nowhere', ISSUER: 'http://127.0.0.1:9' };
    const environment = { ...variables, POLICIES: join(folder, '*.yaml') };
    const read = await loadAll({ configFile: join(import.meta.dirname, 'gateway.yaml'), environment, now });
    if (!hasPlan(read)) throw new Error(renderProblems(read.problems, { colour: false }));
    loaded = read;
  });

  it.each(LIMIT_POLICIES)('%s', async (name, _policy, ask, marks) => {
    const [method = '', tail] = ask.split(' ');
    const path = `/api/v1/${name}${tail === '/' ? '' : tail}`;
    const { text } = await explain(loaded, {
      ...{ request: `${method} ${path}`, headers: [], as: undefined, scopes: undefined },
      ...{ paused: undefined, format: 'json', now },
    });
    const explained: Explanation = JSON.parse(text);
    const answer = await asked.ask({ method, path, headers: { host: '127.0.0.1' } });
    expect(answer.status).toBe(200);
    const told = (headers: Answer['headers']) => quotas.map((each) => `${each}: ${headers[each]}`);
    expect(told(explained.answer.headers)).toEqual(told(answer.headers));
    const rows = explained.decisions.filter(({ step }) => step === 'limit' || step === 'cost');
    expect((await Promise.all(rows.map(markOf))).join(' ')).toBe(marks);
  });

  async function markOf({ origin }: Explanation['decisions'][number]): Promise<string | undefined> {
    const text = await readFile(origin?.file ?? '', 'utf8');
    return / # (\w)$/.exec(text.split('\n')[(origin?.line ?? 0) - 1] ?? '')?.[1];
  }
});
