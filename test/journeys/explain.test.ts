// `explain` against the gateway it explains: the same policies, the same clock, the same requests, the same answers.
// Requests are made of the policies of all other journeys, at every instant at which something of them changes.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../../gateway/cli/explain.ts';
import { isWhole, loadAll, type Whole } from '../../gateway/plan/load.ts';
import { UNVERSIONED } from '../../gateway/policy/versioning/resolution.ts';
import { sendJson } from '../../upstreams/service/answer.ts';
import { listen, type Service } from '../../upstreams/service/listen.ts';
import { type Explanation, sidesOf } from '../support/explained.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { policyFolders } from '../support/policy-folders.ts';
import { CALLERS, type Caller, requestsOf, type TimedRequest } from '../support/requests-of-api.ts';

const DAY = Date.UTC(2026, 10, 20);
const SCOPES = ['orders:read', 'orders:write', 'payments:read', 'payments:write'];
/** The day the account of each token was made. */
const CREATED = '2025-10-01';
/** How `explain` says that from now on the account stays where it is. */
const FIRST_CALL = 'the first call of the account';
/** Folders and files of policies that are not compared, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'start/bad': 'check refuses it: there is no plan',
  'start/good': 'reads a guide from a file that its journey makes',
  reload: 'a template, of which its journey makes one edition after the other',
  maintenance: 'goes by the real time, and explain by the instant that is asked about',
  targets: 'what its targets are, and which is well, its journey decides',
  'upstream-connections': 'certificates are made, and places taken, as its journey runs',
  'authority/policies': 'its certificates are made as its journey runs',
  'secrets/policies': 'its store is one that cannot be reached',
  'upstream-faults/nameless.yaml': 'asks a resolver for a host that does not exist',
};

const found = await policyFolders();
const compared = found.filter(({ folder }) => LEFT_OUT[folder] === undefined);

const stack = new AsyncDisposableStack();
/** Stands for every upstream; says what it was asked for. */
let upstream: Service;
let issuerUrl: string;
const tokens = new Map<Caller, string>();
beforeAll(async () => {
  upstream = stack.adopt(
    await listen(
      ({ url, headers }, response) =>
        sendJson(response, 200, { target: url, version: headers['api-version'] }),
      { port: 0 },
    ),
    (service) => service.close(),
  );
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  issuerUrl = issuer.url;
  for (const id of CALLERS) {
    const claims = { client_id: id, account_id: id, account_created: CREATED, scope: SCOPES.join(' ') };
    tokens.set(id, `Bearer ${await issuer.sign(claims)}`);
  }
});
afterAll(() => stack.disposeAsync());

it('nothing is left out but by name, and what is named is there', () => {
  expect(compared.length).toBeGreaterThan(20);
  for (const path of Object.keys(LEFT_OUT))
    expect(
      found.some(({ folder, files }) => folder === path || files.includes(path)),
      path,
    ).toBe(true);
});

describe.each(compared)('with the policies in $folder', ({ folder, config, variables }) => {
  const journey = new AsyncDisposableStack();
  let now = DAY;
  let gateway: RunningGateway;
  let clients: readonly Client[];
  let loaded: Whole;

  beforeAll(async () => {
    const environment: Record<string, string> = { ISSUER: issuerUrl };
    for (const name of variables)
      environment[name] = name.endsWith('_PORT') ? String(upstream.port) : upstream.url;
    gateway = journey.use(
      await runGateway({ policies: folder, lifecycleNow: () => now, environment, config }),
    );
    clients =
      gateway.https === 0
        ? [overHttp1(gateway.http, { tls: false })]
        : [overHttp1(gateway.https), overHttp2(gateway.https)];
    for (const client of clients) journey.use(client);
    const read = await loadAll({
      configFile: join(import.meta.dirname, config),
      environment: {
        DATA: '/nowhere',
        STORE: 'embedded:/nowhere',
        POLICIES: join(import.meta.dirname, folder, '*.yaml'),
        ...environment,
      },
      now: DAY,
    });
    if (!isWhole(read)) throw new Error(JSON.stringify(read.problems));
    loaded = read;
  });
  afterAll(() => journey.disposeAsync());

  async function explained({ path, method = 'GET', headers = {} }: Ask, as?: Caller, pin?: string) {
    const { exitCode, text } = await explain(loaded, {
      request: `${method} ${path}`,
      headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      as,
      scopes: SCOPES,
      account: { created: CREATED, pin },
      paused: undefined,
      format: 'json',
      now,
    });
    expect(exitCode, text).toBe(0);
    const explanation: Explanation = JSON.parse(text);
    return explanation;
  }

  async function expectSame(client: Client, ask: Ask, explanation: Explanation): Promise<void> {
    const about = { at: new Date(now).toISOString(), protocol: clients.indexOf(client), ask };
    const { explained, answered } = sidesOf(explanation, await client.ask(ask), ask.method);
    expect({ about, answered }).toEqual({ about, answered: explained });
  }

  it('every version is explained as it is served, at each of its dates and a millisecond before', async () => {
    const pins = new Map<string, string>();
    const told = new Map<string, Explanation>();
    const outcomes = new Set<number>();
    for (const [client, request] of everyRequest()) {
      now = request.at;
      const { api, as, series } = request;
      const ask = sent(request);
      const account = `${api} ${as}`;
      const explanation = await explained(ask, as, pins.get(account));
      const pinned = explanation.decisions.find(({ detail }) => detail === FIRST_CALL);
      if (pinned !== undefined) pins.set(account, pinned.value);
      await expectSame(client, ask, explanation);
      outcomes.add(explanation.answer.status ?? 0);
      // An account that is still to be made counts as one of the very day, which no policy says anything about.
      if (series === undefined || now < Date.parse(CREATED)) continue;
      const before = told.get(series);
      if (before !== undefined) expect(foretold(before, now), series).toEqual(outcomeOf(explanation));
      told.set(series, explanation);
    }
    expect(outcomes.size).toBeGreaterThanOrEqual(3);
    expect(outcomes).not.toContain(500);
  });

  it('TLS-5: and over plain HTTP', async () => {
    await using plain = overHttp1(gateway.http, { tls: false });
    const [first] = everyRequest();
    if (first === undefined) throw new Error('there is no request');
    const [, request] = first;
    now = request.at;
    const ask = sent(request);
    const whole = { ...ask, path: `http://127.0.0.1${ask.path}` };
    await expectSame(plain, ask, await explained(whole, request.as));
  });

  /** Every other one over HTTP/2, where that is spoken. */
  function everyRequest(): readonly (readonly [Client, TimedRequest])[] {
    const apis = loaded.plan.apis.filter(({ name }) => LEFT_OUT[`${folder}/${name}.yaml`] === undefined);
    const requests = apis.flatMap((api) => requestsOf(api, DAY));
    return requests.flatMap((request, index) => {
      const client = clients[index % clients.length];
      return client === undefined ? [] : [[client, request] as const];
    });
  }
});

/** What `explain` said would become of its request at `at`. */
function foretold(before: Explanation, at: number) {
  const change = before.next.findLast((each) => Date.parse(each.at) <= at);
  if (change === undefined) return outcomeOf(before);
  const { status, version } = change;
  return { status, version: version === UNVERSIONED ? undefined : version };
}

/** Without a status it is forwarded. */
function outcomeOf({ answer, decisions }: Explanation) {
  return { status: answer.status, version: decisions.find(({ step }) => step === 'version')?.value };
}

/** With the id that explained requests have, which some bodies repeat. */
function sent({ ask, as }: TimedRequest): Ask {
  const token = as === undefined ? undefined : tokens.get(as);
  const authorization = token === undefined ? {} : { authorization: token };
  return { ...ask, headers: { ...ask.headers, ...authorization, 'x-request-id': 'explained' } };
}
