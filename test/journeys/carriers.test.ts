// Version resolution through a gateway: every carrier, every pair of carriers, versions by host and by date.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { converseInHttp2 } from '../wire/http2-client.ts';
import { request } from '../wire/http2-frames.ts';
import { askFor, NAMES, PLACES } from './carriers/asks.ts';
import { createFixture, expectOneVersion, pairs, seenBy } from './carriers/fixture.ts';
import { statusTable } from './carriers/status-table.ts';
import { upstreamSees } from './carriers/upstream-sees.ts';

const fixture = createFixture();
const { ask, gateway } = fixture;
beforeAll(fixture.open);
afterAll(fixture.close);

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (protocol) => {
  it.concurrent.each(PLACES)('the %s alone names the version', async (place) => {
    const answer = await ask(askFor({ [place]: 'v2' }), protocol);
    expectOneVersion(answer, 'v2');
    const carrier = place === 'contentType' ? 'content_type' : place;
    expect(await gateway().accessLine(answer.headers['x-request-id'])).toMatchObject({
      carrier,
      version: 'v2',
    });
  });

  it.concurrent.each(pairs)('VER-3: %s and %s that agree are one version', async (one, other) => {
    expectOneVersion(await ask(askFor({ [one]: 'v2', [other]: 'v2' }), protocol), 'v2');
  });

  it.concurrent.each(pairs)('VER-3: %s and %s that disagree are ambiguous', async (one, other) => {
    const answer = await ask(askFor({ [one]: 'v2', [other]: 'v3' }), protocol);
    expect(answer.status).toBe(400);
    // Negotiated carriers are named last.
    const values = [`"v2" in the ${NAMES[one]}`, `"v3" in the ${NAMES[other]}`];
    for (const value of values) expect(answer.json.message).toContain(value);
    expect(await gateway().accessLine(answer.headers['x-request-id'])).toMatchObject({
      refusal: 'version_ambiguous',
    });
  });
});

describe('H2-3, VER-3: a version header with forbidden bytes, which nghttp2 drops', () => {
  it.concurrent.each([
    ['is missing if there is no default', '/api/orders/7', 'api-version', 400, 'version_missing', undefined],
    ['does not override the path', '/api/v2/orders/7', 'api-version', 200, undefined, 'v2'],
    ['leads to the default', '/api/payments/7', 'payments-version', 200, undefined, '2026-06-01'],
  ] as const)('%s', async (_what, path, field, status, refusal, version) => {
    const port = gateway().https;
    const fields = [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', '127.0.0.1'],
      [':path', path],
      ['x-request-id', `left-out-${field}-${status}`],
      [field, 'v9\0'],
    ] as const;
    const address = { host: '127.0.0.1', port, tls: true, serverName: '' };
    const { answers } = await converseInHttp2(address, { pieces: [request(fields)], patienceMs: 20_000 });
    expect(answers).toMatchObject([{ status }]);
    const line = await gateway().accessLine(`left-out-${field}-${status}`);
    expect(line).toMatchObject({ status, ...(refusal && { refusal }), ...(version && { version }) });
  });
});

it('VER-3: a header decides between two versions that Accept ranks equally', async () => {
  for (const header of ['v2', 'v3']) {
    const accept = 'application/vnd.acme.v2+json;q=0.9, application/vnd.acme.v3+json;q=0.9, text/html;q=0.1';
    const headers = { accept, 'api-version': header };
    expectOneVersion(await ask({ path: '/api/orders/7?x=1', headers }), header);
  }
});

describe('VER-4: a parameter that a service may read as the version parameter', () => {
  it.each([
    'Since=2025-03-01',
    'since[]=2025-03-01',
    'since%00=2025-03-01',
    ';since=2025-03-01',
    'since[lt]=1',
  ])('%s gets 400, also with a version in a header', async (pair) => {
    for (const headers of [{}, { 'payments-version': '2026-06-01' }]) {
      const answer = await ask({ path: `/api/payments?x=1&${pair}`, headers });
      expect(answer.status).toBe(400);
      expect(answer.json.message).toContain(`"${pair.replace(/^;/, '')}" in the query`);
    }
  });

  it('is forwarded unchanged if the policy ignores it', async () => {
    const answer = await ask({ path: '/api/payments?since%5Bgte%5D=2025-03-01&since[gte]=7' });
    expect(seenBy(answer).target).toBe('/echo?since%5Bgte%5D=2025-03-01&since[gte]=7');
    expect(await gateway().accessLine(answer.headers['x-request-id'])).toMatchObject({ carrier: 'default' });
  });
});

statusTable(fixture);
upstreamSees(fixture);

it('NEG-5: a response keeps the type of the service unless the policy rewrites it', async () => {
  const { headers } = await ask(askFor({ accept: 'v2' }));
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
});

describe('versions by host', () => {
  it('RET-2: redirect to the host of the successor if there is no path form', async () => {
    const answer = await ask({ path: '/api/hosts/7?x=%20', headers: { host: 'v1.hosts.example.com' } });
    expect(answer.status).toBe(301);
    expect(answer.headers.location).toBe('https://v2.hosts.example.com/api/hosts/7?x=%20');
    expect(answer.headers.link).toContain(
      '<https://v2.hosts.example.com/api/hosts/7>; rel="successor-version"',
    );
  });

  it('RET-6: get a warning about credentials only in a redirect to another host', async () => {
    const away = await ask({ path: '/api/hosts/7', headers: { host: 'v1.hosts.example.com' } });
    expect(away.json.message).toBe(
      'API version v1 was retired on 2026-02-01. The redirect leads to another host, where most clients send no credentials: add them again.',
    );
    const toPath = await ask({ path: '/api/orders/7', headers: { host: 'v0.api.example.com' } });
    expect(toPath.json.message).toContain('another host');
    const here = await ask({ path: '/api/v0/orders/7' });
    expect(here.json.message).toBe('API version v0 was retired on 2026-02-01.');
  });

  it('STAT-1: fall back to the default without Vary if the host names none', async () => {
    const answer = await ask({ path: '/api/hosts/7' });
    expect(answer.status).toBe(200);
    expect(answer.headers.vary).toBeUndefined();
  });
});

describe('versions by date', () => {
  const day = (value: string) => ask({ path: '/api/payments', headers: { 'payments-version': value } });

  it.each([
    ['2025-03-01', '2025-03-01', 'the day itself'],
    ['2026-05-31', '2025-03-01', 'the day before the next'],
    ['2026-06-01', '2026-06-01', 'the next'],
    ['2026-11-20', '2026-06-01', 'today'],
  ])('VER-5: %s selects %s: %s', async (value, label) => {
    const answer = await day(value);
    expect(answer.status).toBe(200);
    expect(await gateway().accessLine(answer.headers['x-request-id'])).toMatchObject({
      carrier: 'header',
      version: label,
    });
  });

  it.each([
    ['2024-02-01', 410, 'its version has ended'],
    ['2023-12-31', 400, 'no version is that old'],
    ['2026-11-21', 400, 'the date is in the future'],
    ['2099-01-01', 400, 'its version is only planned'],
    ['2026-02-30', 400, 'the date does not exist'],
    ['2025-3-1', 400, 'the form is wrong'],
  ])('VER-5: %s gets %i: %s', async (value, status) => {
    expect((await day(value)).status).toBe(status);
  });

  it('VER-5: a carrier with exact match accepts no other date', async () => {
    expect((await ask({ path: '/api/payments?since=2025-03-02' })).status).toBe(400);
    expect((await ask({ path: '/api/payments?since=2025-03-01' })).status).toBe(200);
  });

  it('VER-3: a date between two versions agrees with the version that it selects', async () => {
    const headers = { 'payments-version': '2025-07-01' };
    expect((await ask({ path: '/api/payments?since=2025-03-01', headers })).status).toBe(200);
    expect((await ask({ path: '/api/payments?since=2026-06-01', headers })).status).toBe(400);
  });
});
