// Numbers, semantic versions and dates in each carrier: alone, in agreeing pairs and in conflicting pairs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Received } from '../../upstreams/echo/received.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  gateway = stack.use(await runGateway({ policies: 'notations', environment: { ECHO: echo.url } }));
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

const PLACES = ['path', 'subdomain', 'header', 'query', 'accept', 'parameter', 'contentType'] as const;
type Place = (typeof PLACES)[number];
type Said = Readonly<Partial<Record<Place, string>>>;

/** Names of the carrier in responses and in the log. */
const NAMES: Readonly<Record<Place, readonly [answers: string, log: string]>> = {
  path: ['path', 'path'],
  subdomain: ['subdomain', 'subdomain'],
  header: ['header', 'header'],
  query: ['query', 'query'],
  accept: ['Accept header', 'accept'],
  parameter: ['Accept header', 'accept'],
  contentType: ['Content-Type header', 'content_type'],
};

interface Notation {
  readonly api: string;
  readonly retired: string;
  readonly older: string;
  readonly newer: string;
}

const NOTATIONS: readonly Notation[] = [
  { api: 'numbers', retired: 'v0', older: 'v1', newer: 'v2' },
  { api: 'full', retired: 'v1.0.0', older: 'v1.4.0', newer: 'v2.1.0' },
  { api: 'days', retired: '2022-01-01', older: '2023-06-01', newer: '2024-06-01' },
];

/** VER-1: path, host and media type have the prefix. A host cannot contain the dots. */
function spell(place: Place, label: string): string {
  if (place === 'subdomain') return label.replace(/\..*/, '');
  return place === 'path' || place === 'accept' || place === 'contentType' ? label : label.replace(/^v/, '');
}

function askFor(api: string, said: Said): Ask {
  const { path, subdomain, header, query, accept, parameter, contentType } = said;
  const ranges = [
    ...(accept === undefined ? [] : [`application/vnd.acme.${accept}+json`]),
    ...(parameter === undefined ? [] : [`application/vnd.acme+json; version=${parameter}`]),
  ];
  return {
    path: `/api/${path === undefined ? '' : `${path}/`}${api}/7?x=1${query === undefined ? '' : `&version=${query}`}`,
    headers: {
      ...(subdomain === undefined ? {} : { host: `${subdomain}.${api}.example.com` }),
      ...(header === undefined ? {} : { 'api-version': header }),
      ...(ranges.length === 0 ? {} : { accept: ranges.join(', ') }),
      ...(contentType === undefined ? {} : { 'content-type': `application/vnd.acme.${contentType}+json` }),
    },
    ...(contentType === undefined ? {} : { method: 'POST', body: '{}' }),
  };
}

const pairs = PLACES.flatMap((one, index) => PLACES.slice(index + 1).map((other) => [one, other] as const));
const negotiated = (one: Place, other: Place) => one === 'accept' && other === 'parameter';

/** VER-9: one path, one version, and nothing that could name another. */
function expectOneVersion(answer: Answer, label: string): void {
  expect(answer.status).toBe(200);
  const { target, headers } = answer.json as unknown as Received;
  expect(target).toBe('/echo/7?x=1');
  // The forwarded fields keep the requested host (XFF-1). It is not a version there.
  const named = headers.filter(
    ([name, value]) =>
      !/^(?:x-)?forwarded/i.test(name) &&
      /vnd|version|^v?\d+\.\d+\.\d+$|^v\d+$|^\d{4}-\d\d-\d\d$/.test(value),
  );
  expect(named.map(([name, value]) => [name.toLowerCase(), value])).toEqual([['api-version', label]]);
}

const ask = (request: Ask): Promise<Answer> => client.ask(request);

describe.each(NOTATIONS)('$api', ({ api, retired, older, newer }) => {
  const say = (label: string, ...places: readonly Place[]): Said =>
    Object.fromEntries(places.map((place) => [place, spell(place, label)]));

  it.concurrent.each(PLACES)('VER-1: the %s alone names the version', async (place) => {
    for (const label of [older, newer]) {
      const answer = await ask(askFor(api, say(label, place)));
      expectOneVersion(answer, label);
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ carrier: NAMES[place][1], version: label });
    }
  });

  it.concurrent.each(pairs)('VER-3: %s and %s that agree are one version', async (one, other) => {
    expectOneVersion(await ask(askFor(api, say(newer, one, other))), newer);
  });

  it.concurrent.each(pairs)('VER-3, NEG-4: a conflict of %s and %s', async (one, other) => {
    const answer = await ask(askFor(api, { ...say(older, one), ...say(newer, other) }));
    // Two types in one Accept are a choice, not a conflict.
    if (negotiated(one, other)) return expectOneVersion(answer, newer);
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(`"${spell(one, older)}" in the ${NAMES[one][0]}`);
    expect(answer.json.message).toContain(`"${spell(other, newer)}" in the ${NAMES[other][0]}`);
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'version_ambiguous' });
  });

  // With full versions a host names the newest one of a major, which has not ended.
  const exact = PLACES.filter((place) => place !== 'subdomain' || api !== 'full');
  it.concurrent.each(exact)('STAT-1: a retired version in the %s', async (place) => {
    const answer = await ask(askFor(api, say(retired, place)));
    const moves = place === 'path' || place === 'subdomain';
    expect(answer.status).toBe(moves ? 301 : 410);
    expect(answer.headers.location).toBe(moves ? `https://127.0.0.1/api/${newer}/${api}/7?x=1` : undefined);
  });

  it.concurrent.each([
    ['header', 400],
    ['query', 400],
    ['accept', 406],
    ['parameter', 406],
    ['contentType', 415],
    ['path', 404],
    ['subdomain', 404],
  ] as const)('STAT-1: an unknown or malformed version in the %s gets %i', async (place, status) => {
    const unknown = api === 'days' ? '2023-06-02' : newer.replace('2', '7');
    const malformed = api === 'days' ? '2023-06-31' : newer.replace('v', 'v0');
    for (const label of [unknown, malformed]) {
      const answer = await ask(askFor(api, say(label, place)));
      expect([label, answer.status]).toEqual([label, status]);
      expect(answer.json).toMatchObject({ supportedVersions: [newer, older] });
    }
  });
});

it('VER-1: a major selects its newest version; an incomplete version is unknown', async () => {
  expectOneVersion(await ask(askFor('full', { header: '1' })), 'v1.4.0');
  expectOneVersion(await ask(askFor('full', { header: '1', path: 'v1.4.0' })), 'v1.4.0');
  expect((await ask(askFor('full', { header: '1', path: 'v1.0.0' }))).status).toBe(400);
  expect((await ask(askFor('full', { header: '1.4' }))).status).toBe(400);
  expect((await ask(askFor('full', { path: 'v1.4' }))).status).toBe(404);
});

it('VER-3: the same version twice in one carrier is accepted, two versions get 400', async () => {
  const twice = (query: string) => ask({ path: `/api/numbers/7?x=1&${query}` });
  expectOneVersion(await twice('version=2&version=v2'), 'v2');
  expect((await twice('version=1&version=2')).json.message).toContain('"1" in the query, "2" in the query');
  const lines = (value: string) => ask({ path: '/api/numbers/7?x=1', headers: { 'api-version': value } });
  expectOneVersion(await lines('2, v2'), 'v2');
  expect((await lines('1, 2')).json.message).toContain('"1" in the header, "2" in the header');
  const type = 'application/vnd.acme+json;version=2';
  const range = (accept: string) => ask({ path: '/api/numbers/7?x=1', headers: { accept } });
  expectOneVersion(await range(`${type};version=v2`), 'v2');
  const torn = await range(`${type};version=1, ${type};q=0.5`);
  expect([torn.status, torn.json.message]).toEqual([
    400,
    'The request names different versions: "2" in the Accept header, "1" in the Accept header. Send one.',
  ]);
});
