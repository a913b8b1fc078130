// `explain` against the gateway it explains: the same policies, the same clock, the same requests, the same answers.
// Requests are made of the policies of other journeys, at every instant at which one of their versions changes.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runExplain } from '../../gateway/cli/explain.ts';
import { loadAll } from '../../gateway/plan/load.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { rows } from './refusals/rows.ts';

const DAY = Date.UTC(2026, 10, 20);
/** Made anew for each answer, or counted; the rest follows from the policy. */
const PASSING = new Set([
  'x-request-id',
  'x-ratelimit-remaining',
  'ratelimit',
  'date',
  'connection',
  'keep-alive',
]);
/** All of them are the echo here. */
const SERVICES = ['ORDERS_V1', 'ORDERS_V2', 'CATALOG', 'ECHO', 'PAYMENTS'].map(
  (name) => `SUNDIAL_${name}_PORT`,
);
const SCOPES = 'orders:read orders:write payments:read payments:write';
/** The day the account of the token was made. */
const CREATED = '2025-10-01';
/** Where no day is asked for, the first of all requests pins: at DAY, to this. */
const FIRST_CALL = '2026-06-01';
const SAMPLES = '../../policies';
/** Folders beside this file; the first is what an operator gets. */
const FOLDERS = [
  SAMPLES,
  'refusals',
  'clock',
  'carriers',
  'operations',
  'exceptions',
  'observe',
  'brownouts',
  'pins',
  'body-notice',
  'boundaries',
  'golden-messages',
  'version-answers',
  'caching',
  'cors',
  'bytes',
  'described',
  'pause',
];

interface Explained {
  readonly kind: 'answered' | 'forwarded';
  readonly status?: number;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const stack = new AsyncDisposableStack();
let environment: Record<string, string>;
let authorization = '';
beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  environment = {
    ...Object.fromEntries(SERVICES.map((name) => [name, String(echo.port)])),
    ECHO: echo.url,
    BYTES: echo.url,
    UPSTREAM: echo.url,
    TYPES: echo.url,
    ISSUER: issuer.url,
  };
  authorization = `Bearer ${await issuer.sign({ account_created: CREATED, account_id: 'acme', scope: SCOPES })}`;
});
afterAll(() => stack.disposeAsync());

describe.each(FOLDERS)('with the policies in %s', (folder) => {
  const journey = new AsyncDisposableStack();
  const config = folder === SAMPLES ? 'explain/gateway.yaml' : 'gateway.yaml';
  let now = DAY;
  let gateway: RunningGateway;
  let client: Client;
  let plan: GatewayPlan;
  let files: { configFile: string; environment: Record<string, string> };

  beforeAll(async () => {
    gateway = journey.use(
      await runGateway({ policies: folder, lifecycleNow: () => now, environment, config }),
    );
    client = journey.use(overHttp1(gateway.https));
    files = {
      configFile: join(import.meta.dirname, config),
      environment: {
        DATA: '/nowhere',
        STORE: 'embedded:/nowhere',
        POLICIES: join(import.meta.dirname, folder, '*.yaml'),
        ...environment,
      },
    };
    const loaded = await loadAll({ ...files, now: DAY });
    if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
    plan = loaded.plan;
  });
  afterAll(() => journey.disposeAsync());

  async function explain({ path, method = 'GET', headers = {} }: Ask): Promise<Explained> {
    const { exitCode, text } = await runExplain({
      ...files,
      request: `${method} ${path}`,
      headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      as: authorization === headers.authorization ? 'acme' : undefined,
      scopes: undefined,
      account: path.includes('/transfers') ? { pin: FIRST_CALL } : { created: CREATED },
      paused: undefined,
      format: 'json',
      now,
      today: DAY,
      colour: false,
    });
    expect(exitCode, text).toBe(0);
    return JSON.parse(text).answer;
  }

  function expectSame(explained: Explained, answer: Answer): void {
    const named = Object.keys(explained.headers).filter((name) => !PASSING.has(name));
    const lines = (headers: Readonly<Record<string, string>>) =>
      Object.fromEntries(named.map((name) => [name, headers[name]]));
    if (explained.kind === 'forwarded') {
      expect(answer.headers, answer.text).not.toHaveProperty('proxy-status');
      expect(lines(answer.headers)).toEqual(lines(explained.headers));
      // The echo answers a GET with a JSON object, to which only a notice is added.
      if (answer.text !== '') {
        const { _deprecation } = answer.json;
        expect(_deprecation === undefined ? undefined : { _deprecation }).toEqual(explained.body);
      }
      return;
    }
    const body = typeof explained.body === 'string' ? answer.text : answer.json;
    expect({ status: answer.status, body, headers: lines(answer.headers) }).toEqual({
      status: explained.status,
      body: explained.body,
      headers: lines(explained.headers),
    });
    expect(
      Object.keys(answer.headers)
        .filter((name) => !PASSING.has(name))
        .sort(),
    ).toEqual(named.sort());
  }

  it('every version is explained as it is served, at each of its dates and a millisecond before', async () => {
    const compared = new Set<string>();
    for (const { versions, name } of plan.apis) {
      for (const { label, phases, brownouts } of versions.values()) {
        const [path = '/', ...others] = pathsOf(plan, name, label);
        const dark = brownouts?.planned.slice(0, 1).flatMap(({ from, until }) => [from, until]) ?? [];
        const dates = [...phases.map(({ from }) => from), ...dark].filter(Number.isFinite);
        const later = dates.flatMap((date) =>
          [date - 1, date].map((at) => ({ at, ask: { path, headers: { authorization } } })),
        );
        const forms = [path, ...others].flatMap((each): Ask[] => [
          { path: each },
          { path: each, headers: { authorization } },
          { path: each, method: 'DELETE' },
        ]);
        for (const { at, ask } of [...forms.map((ask) => ({ at: DAY, ask })), ...later]) {
          now = at;
          const [explained, answer] = [await explain(ask), await client.ask(named(ask))];
          // What the bucket of the running gateway has left is not known to anybody else.
          if (answer.status === 429) continue;
          expectSame(explained, answer);
          compared.add(`${answer.status}`);
        }
      }
    }
    expect(compared.size).toBeGreaterThanOrEqual(2);
  });

  // A token is explained as if it were in order; whether it is, only its issuer's keys tell.
  const told = folder === 'refusals' ? rows.filter(({ reason }) => reason !== 'token_invalid') : [];
  it.each(told)('$status $reason: $title', async ({ ask, status }) => {
    now = DAY;
    const asked = { ...ask, headers: { host: '127.0.0.1', ...ask.headers } };
    const { body: _body, ...explainable } = asked;
    const explained = await explain(explainable);
    expect(explained.status).toBe(status);
    expectSame(explained, await client.ask(asked));
  });
});

/** With the id that explained requests have, which some bodies repeat. */
function named(ask: Ask): Ask {
  return { ...ask, headers: { ...ask.headers, 'x-request-id': 'explained' } };
}

/** Where a version is reached by path, and the base of its API. */
function pathsOf(plan: GatewayPlan, api: string, label: string): readonly string[] {
  const paths = plan.apis.find(({ name }) => name === api)?.paths ?? [];
  return [...new Set(paths.map((path) => path.replace('{version}', label)))].flatMap((path) => [
    path,
    `${path}/search?x=1`,
  ]);
}
