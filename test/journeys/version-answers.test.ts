// Responses about versions that an API can choose: their media type, and the status of unknown versions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';
import { askFor, type Place } from './carriers/asks.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;

/** A path `/<status>/<type>`, percent-encoded, gets that status and Content-Type. */
beforeAll(async () => {
  const types = stack.use(
    await startRawUpstream((target, socket) => {
      const [, status = '200', type = ''] = target.split('/').map(decodeURIComponent);
      const length = status === '304' ? '' : 'Content-Length: 0\r\n';
      const line = type === '' ? '' : `Content-Type: ${type}\r\n`;
      socket.write(`HTTP/1.1 ${status} X\r\nETag: "7"\r\n${line}${length}\r\n`);
    }),
  );
  gateway = stack.use(await runGateway({ policies: 'version-answers', environment: { TYPES: types.url } }));
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

describe('NEG-5: the type of the response', () => {
  const typeOf = async (
    type: string,
    headers: Record<string, string>,
    more: { status?: number; at?: string } = {},
  ) => {
    const { status = 200, at = '/api/typed' } = more;
    const answer = await client.ask({ path: `${at}/${status}/${encodeURIComponent(type)}`, headers });
    expect(answer.status).toBe(status);
    expect(answer.headers.vary).toBe('API-Version, Accept');
    expect(answer.headers.etag).toBe('"7"');
    return answer.headers['content-type'];
  };
  const NAMED = 'application/vnd.acme.v2+json';
  const BY_PARAMETER = 'application/vnd.acme+json; version=2';

  it.each([
    ['the form with the version in its name', NAMED, NAMED],
    ['the form with a parameter', BY_PARAMETER, BY_PARAMETER],
    ['a quoted parameter', 'application/vnd.acme+json;version="2"', BY_PARAMETER],
    ['any spelling of the type', 'Application/VND.acme.v2+JSON', NAMED],
    ['the preferred one of two forms', `${NAMED};q=0.5, ${BY_PARAMETER};q=0.6`, BY_PARAMETER],
    ['the first of two equally preferred forms', `${NAMED}, ${BY_PARAMETER}`, NAMED],
    ['the form beside a less preferred type', `text/html;q=0.9, ${NAMED}, */*;q=0.1`, NAMED],
    ['the form beside an equally preferred type', `application/json, ${NAMED}`, NAMED],
    ['the form after one with an unknown version', `application/vnd.acme.v7+json, ${NAMED};q=0.5`, NAMED],
  ])('%s', async (_name, accept, type) => {
    expect(await typeOf('application/json', { accept })).toBe(type);
  });

  it('is the requested form if another carrier names the version too', async () => {
    expect(await typeOf('application/json', { accept: NAMED, 'api-version': '2' })).toBe(NAMED);
    expect(await typeOf('application/json', { accept: NAMED }, { at: '/api/v2/typed' })).toBe(NAMED);
  });

  it.each([
    ['application/json; charset=utf-8', `${NAMED}; charset=utf-8`],
    ['Application/JSON;Charset="utf-8"', `${NAMED}; charset=utf-8`],
  ])('keeps the parameters of the upstream: %s', async (type, answered) => {
    expect(await typeOf(type, { accept: NAMED })).toBe(answered);
  });

  it.each([
    ['no Accept', {}],
    ['no version in Accept', { accept: 'application/json' }],
    ['a preferred plain type', { accept: `application/json, ${NAMED};q=0.9` }],
    ['a version in another carrier alone', { 'api-version': '2', accept: '*/*' }],
    ['an excluded version', { accept: `application/vnd.acme.v1+json;q=0, */*` }],
  ])('is that of the upstream for %s', async (_name, headers) => {
    expect(await typeOf('application/json', headers as Record<string, string>)).toBe('application/json');
  });

  it.each([
    'application/problem+json',
    'text/html',
    'application/vnd.other+json',
    'application/json2',
    'nonsense',
    '',
  ])('stays if it is another type: %s', async (type) => {
    expect(await typeOf(type, { accept: NAMED })).toBe(type === '' ? undefined : type);
  });

  it.each([
    [201, NAMED],
    [304, NAMED],
    [404, 'application/json'],
    [500, 'application/json'],
  ])('is changed for 201 and 304, not for errors: %i', async (status, type) => {
    expect(await typeOf('application/json', { accept: NAMED }, { status })).toBe(type);
  });

  it('is JSON for responses of the gateway itself', async () => {
    const { status, headers } = await client.ask({
      path: '/api/typed',
      headers: { accept: 'application/vnd.acme.v1+json' },
    });
    expect([status, headers['content-type']]).toEqual([410, 'application/json; charset=utf-8']);
  });

  it('is that of the upstream if the API does not rewrite it', async () => {
    const answer = await client.ask({
      path: `/api/v2/status-400/200/${encodeURIComponent('application/json')}`,
      headers: { accept: NAMED },
    });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });
});

describe('VER-7: an encoded slash after the base', () => {
  it('reaches the upstream unchanged, unless the API rejects it', async () => {
    for (const slash of ['%2F', '%2f']) {
      const kept = await client.ask({ path: `/api/v2/typed/200/text${slash}plain` });
      expect([kept.status, kept.headers['content-type']]).toEqual([200, 'text/plain']);
      const refused = await client.ask({ path: `/api/v2/status-406/200/text${slash}plain` });
      expect(refused.status).toBe(400);
      expect(refused.json.message).toBe('The path of this API cannot hold an encoded slash.');
    }
    // A query is not part of the path.
    const asked = await client.ask({ path: '/api/v7/status-406?next=%2F' });
    expect(asked.status).toBe(406);
  });
});

describe.each([400, 404, 406])('STAT-1: unknown_version_status: %i', (chosen) => {
  const ask = (place: Place, value: string): Promise<Answer> => {
    const { path, headers, ...rest } = askFor({ [place]: value });
    const host = String(headers?.host ?? '').replace('.api.', `.status-${chosen}.`);
    return client.ask({
      ...rest,
      path: path.replace('orders', `status-${chosen}`),
      headers: { ...headers, ...(host === undefined ? {} : { host }) },
    });
  };
  const cells: readonly (readonly [Place, number, number])[] = [
    // carrier, malformed, never existed
    ['path', 404, chosen],
    ['subdomain', 404, chosen],
    ['header', 400, chosen],
    ['query', 400, chosen],
    ['accept', 406, chosen],
    ['contentType', 415, 415],
  ];

  it.each(cells)(
    'applies to versions in the %s that never existed, are planned or are forgotten',
    async (place, _m, status) => {
      for (const value of ['v7', 'v9', 'v0']) {
        const answer = await ask(place, value);
        expect([value, answer.status]).toEqual([value, status]);
        expect(answer.json).toMatchObject({ supportedVersions: ['v2'] });
        expect(answer.json.message).toContain('There is no such version');
      }
    },
  );

  it.each(cells)('does not apply to malformed or ended versions in the %s', async (place, malformed) => {
    expect((await ask(place, 'v01')).status).toBe(malformed);
    expect((await ask(place, 'v1')).status).toBe(410);
  });

  it('does not apply to missing and ambiguous versions', async () => {
    expect((await client.ask({ path: `/api/status-${chosen}` })).status).toBe(400);
    const two = { path: `/api/v7/status-${chosen}`, headers: { 'api-version': '8' } };
    expect((await client.ask(two)).status).toBe(400);
  });
});
