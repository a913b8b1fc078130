// `explain` against gateways with the policies of all journeys: the same requests get the same responses.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../../gateway/cli/explain/explain.ts';
import { UNVERSIONED } from '../../gateway/policy/versioning/resolution.ts';
import { certificateFolder } from '../support/certificate-folder.ts';
import { type Explanation, kindOf, sidesOf } from '../support/explained.ts';
import type { Ask, Client } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { type PolicyFolder, policyFolders } from '../support/policy-folders.ts';
import { type ReloadedGateway, reloadedGateway, type Shown } from '../support/reloaded-gateway.ts';
import { CALLERS, type Caller, type Form, plainRequestsOf, requestsOf } from '../support/requests-of-api.ts';
import { startWellUpstreams, type WellUpstreams } from '../support/well-upstreams.ts';

const DAY = Date.UTC(2026, 10, 20);
const SCOPES = ['orders:read', 'orders:write', 'payments:read', 'payments:write'];
/** The day on which the account of each token was created. */
const CREATED = '2025-10-01';
/** How `explain` says that this call pins the account. */
const FIRST_CALL = 'the first call of the account';
/** Folders and files that are not compared, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'several-issuers/policies': 'its introspection endpoint does not run here',
  freeze: 'the ledger may count the caller as new; explain says that it assumes the opposite',
  'workers/frozen': 'as freeze',
  'client-fields/policies': 'one of its upstreams speaks HTTP/2 without TLS',
  'start/bad': 'it is invalid, so there is no plan',
};

const found = await policyFolders();
const compared = found.filter(({ folder }) => LEFT_OUT[folder] === undefined);

const stack = new AsyncDisposableStack();
let upstreams: WellUpstreams;
const tokens = new Map<Caller, string>();
const gateways = new Map<string, Promise<ReloadedGateway>>();
/** For each gateway, the kinds of requests without an API that it got already. */
const without = new Map<string, Set<string>>();
/** Variables of every folder. */
let environment: Readonly<Record<string, string>> = {};
let now = DAY;

beforeAll(async () => {
  upstreams = stack.use(await startWellUpstreams());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const certificates = stack.use(await certificateFolder());
  await certificates.place('a', ['a.example', '*.a.example']);
  await certificates.place('b', ['b.example']);
  // Maintenance uses the real time, so it must be in force at every lifecycle instant here.
  const known = { ISSUER: issuer.url, CERTS: certificates.path, UNTIL: '2099-01-01T00:00:00Z' };
  environment = { ...known, SECURE: upstreams.secure.url, PATIENCE: '10s' };
  for (const id of CALLERS) {
    const claims = { client_id: id, account_id: id, account_created: CREATED, scope: SCOPES.join(' ') };
    tokens.set(id, `Bearer ${await issuer.sign(claims)}`);
  }
});
afterAll(() => stack.disposeAsync());

it('every policy folder is compared unless LEFT_OUT names it, and each name exists', () => {
  expect(compared.length).toBeGreaterThan(40);
  for (const path of Object.keys(LEFT_OUT))
    expect(
      found.some(({ folder }) => folder === path),
      path,
    ).toBe(true);
});

interface Told {
  readonly at: number;
  readonly ask: Ask;
  readonly explanation: Explanation;
  readonly kind: string;
  readonly series: string | undefined;
  /** It changes the responses to later requests. */
  readonly pins: boolean;
}

describe.each(compared)('with the policies in $title', (folder) => {
  let shown: Shown;

  beforeAll(async () => {
    now = DAY;
    shown = await (await gatewayOf(folder)).show(folder);
  });

  it('explain predicts every response, at each date of a version and a millisecond before', async () => {
    const told = await explainAll();
    const asked = without.getOrInsertComputed(folder.config, () => new Set());
    for (const [at, together] of Map.groupBy(telling(told, asked), (each) => each.at)) {
      now = at;
      const turns = together.map((each, index) => ({ each, client: clientOf(each.ask, index) }));
      const byClient = Map.groupBy(turns, ({ client }) => client);
      // One request at a time on each connection, because some upstreams admit only two.
      const asking = [...byClient].map(async ([client, queue]) => {
        for (const { each } of queue) await expectSame(client, each.ask, each.explanation);
      });
      await Promise.all(asking);
    }
    const outcomes = new Set(told.map(({ explanation }) => explanation.answer.status ?? 0));
    expect(outcomes.size).toBeGreaterThanOrEqual(3);
    expect(outcomes).not.toContain(500);
  });

  it('TLS-5: explain predicts responses over plain HTTP too', async () => {
    now = DAY;
    const asked = without.getOrInsertComputed(folder.config, () => new Set());
    const forms = shown.loaded.plan.apis.slice(0, 1).flatMap(plainRequestsOf);
    const client = shown.loaded.settings.listeners.http && shown.plain();
    for (const form of forms) {
      const ask = sent(form, form.as);
      const whole = { ...ask, path: `http://${ask.headers?.host}${ask.path}` };
      if (client === undefined) expect((await askExplain(whole, form.as)).text).toMatch(/plain HTTP/);
      else {
        const explanation = await explained(whole, form.as);
        const kind = `plain ${kindOf(explanation, ask)}`;
        if (!asked.has(kind)) await expectSame(client, ask, explanation);
        asked.add(kind);
      }
    }
  });

  /** Explains all requests in time order. Expects each predicted change at its instant. */
  async function explainAll(): Promise<readonly Told[]> {
    const pins = new Map<string, string>();
    const latest = new Map<string, Explanation>();
    const told: Told[] = [];
    const requests = shown.loaded.plan.apis.flatMap((api) => requestsOf(api, DAY));
    for (const { at, api, as, ask: form, series } of requests.toSorted((a, b) => a.at - b.at)) {
      now = at;
      const ask = sent(form, as);
      const account = `${api} ${as}`;
      const explanation = await explained(ask, as, pins.get(account));
      const first = explanation.decisions.find(({ detail }) => detail === FIRST_CALL);
      if (first !== undefined) pins.set(account, first.value);
      told.push({ at, ask, explanation, kind: kindOf(explanation, ask), series, pins: first !== undefined });
      // An account from the future counts as created on the day of the request, which no prediction covers.
      if (series === undefined || at < Date.parse(CREATED)) continue;
      const before = latest.get(series);
      if (before !== undefined) expect(foretold(before, at), series).toEqual(outcomeOf(explanation));
      latest.set(series, explanation);
    }
    return told;
  }

  /** Adds the default host of explained requests, and a fixed id, which some bodies repeat. */
  function sent({ as: _as, ...ask }: Form, as: Caller | undefined): Ask {
    const token = as === undefined ? undefined : tokens.get(as);
    const authorization = token === undefined ? {} : { authorization: token };
    const { host } = new URL(shown.loaded.plan.public);
    return { ...ask, headers: { host, ...ask.headers, ...authorization, 'x-request-id': 'explained' } };
  }

  async function askExplain({ path, method = 'GET', headers = {} }: Ask, as?: Caller, pin?: string) {
    return explain(shown.loaded, {
      request: `${method} ${path}`,
      headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      as,
      scopes: SCOPES,
      account: { created: CREATED, pin },
      paused: undefined,
      format: 'json',
      now,
    });
  }

  async function explained(ask: Ask, as?: Caller, pin?: string): Promise<Explanation> {
    const { exitCode, text } = await askExplain(ask, as, pin);
    if (exitCode !== 0) throw new Error(text);
    return JSON.parse(text);
  }

  async function expectSame(client: Client, ask: Ask, explanation: Explanation): Promise<void> {
    const answer = await client.ask(ask);
    const { explained, answered } = sidesOf(explanation, answer, { method: ask.method, now });
    if (JSON.stringify(explained) === JSON.stringify(answered)) return;
    const about = { at: new Date(now).toISOString(), ask };
    expect({ about, answered }).toEqual({ about, answered: explained });
  }

  /** Alternates between protocols. A host with its own certificate has connections of its own. */
  function clientOf({ headers = {} }: Ask, index: number): Client {
    const { certificates = [] } = shown.loaded.settings.listeners.https ?? {};
    const { host } = headers;
    const isOwn = typeof host === 'string' && certificates.some(({ names }) => names.includes(host));
    const clients = shown.clients(isOwn ? host : '');
    const client = clients[index % clients.length];
    if (client === undefined) throw new Error('there is no client');
    return client;
  }
});

/**
 * Selects one request of each kind, and those on both sides of a change between kinds. `asked`: the kinds without an API,
 * which do not depend on the folder, that the gateway got before.
 */
function telling(told: readonly Told[], asked: Set<string>): readonly Told[] {
  const seen = new Set<string>();
  const isNew = (key: string, among = seen) => !among.has(key) && among.add(key) !== undefined;
  const latest = new Map<string, Told>();
  const chosen = new Set<Told>();
  for (const each of told) {
    const before = each.series === undefined ? undefined : latest.get(each.series);
    if (isNew(each.kind, hasApi(each) ? seen : asked) || each.pins) chosen.add(each);
    if (before !== undefined && before.kind !== each.kind && isNew(`${before.kind} ${each.kind}`))
      chosen.add(before).add(each);
    if (each.series !== undefined) latest.set(each.series, each);
  }
  return told.filter((each) => chosen.has(each));
}

/** Published pages about all APIs depend on each of them. */
function hasApi({ explanation }: Told): boolean {
  const { answer, decisions } = explanation;
  return answer.reason === 'published' || decisions.some(({ step }) => step === 'api');
}

/** One gateway for all folders with the same configuration. */
function gatewayOf({ config }: PolicyFolder): Promise<ReloadedGateway> {
  const start = async () => {
    const folders = compared.filter((each) => each.config === config);
    const read: Record<string, string> = {};
    for (const name of folders.flatMap(({ variables }) => variables)) {
      const { port, url } = await upstreams.named(name);
      read[name] = name.endsWith('_PORT') ? String(port) : url;
    }
    const options = { config, environment: { ...read, ...environment }, now: () => now, upstreams };
    return stack.use(await reloadedGateway(options));
  };
  const started = gateways.get(config) ?? start();
  gateways.set(config, started);
  return started;
}

/** The predicted outcome of the request at `at`. */
function foretold(before: Explanation, at: number) {
  const change = before.next.findLast((each) => Date.parse(each.at) <= at);
  if (change === undefined) return outcomeOf(before);
  const { status, version } = change;
  return { status, version: version === UNVERSIONED ? undefined : version };
}

/** Without a status, the request is forwarded. */
function outcomeOf({ answer, decisions }: Explanation) {
  return { status: answer.status, version: decisions.find(({ step }) => step === 'version')?.value };
}
