// Every cell of the status table: the response to each kind of unserved version, by each carrier.
import { describe, expect, it } from 'vitest';
import { head, sendBytes } from '../../support/raw-client.ts';
import { askFor, NAMES, PLACES, type Place } from './asks.ts';
import { expectOneVersion, type Fixture, pairs } from './fixture.ts';

export function statusTable({ ask, gateway }: Fixture): void {
  describe('the status table', () => {
    const cells: readonly (readonly [Place, number, number, number, number])[] = [
      // carrier, malformed, never existed, planned, retired
      ['path', 404, 404, 404, 301],
      ['subdomain', 404, 404, 404, 301],
      ['header', 400, 400, 400, 410],
      ['query', 400, 400, 400, 410],
      ['accept', 406, 406, 406, 410],
      ['contentType', 415, 415, 415, 410],
    ];

    it.concurrent.each(cells)('STAT-1: a malformed version in the %s gets %i', async (place, status) => {
      const answer = await ask(askFor({ [place]: 'v01' }));
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject({
        message: `"v01" in the ${NAMES[place]} is not a version. Versions: v3, v2.`,
        supportedVersions: ['v3', 'v2'],
      });
    });

    it.concurrent.each(cells.filter(([place]) => place !== 'path'))(
      'STAT-1: text that is not a version in the %s gets %i',
      async (place, status) => {
        for (const text of place === 'accept' || place === 'contentType'
          ? ['vx', 'v', 'v-1', 'latest']
          : ['vx']) {
          const answer = await ask(askFor({ [place]: text }));
          expect(answer.status).toBe(status);
          expect(answer.json).toMatchObject({
            message: `"${text}" in the ${NAMES[place]} is not a version. Versions: v3, v2.`,
            supportedVersions: ['v3', 'v2'],
          });
        }
      },
    );

    it.concurrent.each(cells)(
      'STAT-1, STAT-2: a version that never existed, named in the %s',
      async (place, _malformed, status) => {
        const answer = await ask(askFor({ [place]: 'v7' }));
        expect(answer.status).toBe(status);
        expect(answer.json).toMatchObject({
          message: `There is no such version: "v7" in the ${NAMES[place]}. Versions: v3, v2.`,
          supportedVersions: ['v3', 'v2'],
        });
        expect(answer.headers.accept).toBe(
          place !== 'contentType'
            ? undefined
            : [
                ...['v3', 'v2'].map((label) => `application/vnd.acme.${label}+json`),
                ...[3, 2].map((label) => `application/vnd.acme+json; version=${label}`),
              ].join(', '),
        );
      },
    );

    it.concurrent.each(cells)('STAT-1: a planned version in the %s', async (place, _m, _n, status) => {
      expect((await ask(askFor({ [place]: 'v9' }))).status).toBe(status);
    });

    it.concurrent.each(cells)('RET-5: a retired version in the %s', async (place, _m, _n, _p, status) => {
      const answer = await ask(askFor({ [place]: 'v0' }));
      expect(answer.status).toBe(status);
      expect(answer.headers.location).toBe(
        status === 301 ? 'https://127.0.0.1/api/v2/orders/7?x=1' : undefined,
      );
    });

    it.concurrent.each(
      cells.flatMap(([place, , , , status]) =>
        (place === 'contentType' ? ['PUT', 'PATCH'] : ['HEAD', 'OPTIONS', 'POST', 'DELETE']).map(
          (method) => [method, place, status === 301 && method !== 'HEAD' ? 308 : status] as const,
        ),
      ),
    )('%s for a retired version in the %s gets %i', async (method, place, status) => {
      const asked = { ...askFor({ [place]: 'v0' }), method };
      for (const protocol of ['HTTP/1.1', 'HTTP/2']) expect((await ask(asked, protocol)).status).toBe(status);
    });

    it.concurrent.each(cells.filter(([place]) => place !== 'contentType'))(
      'a handshake for a retired version in the %s',
      async (place, _m, _n, _p, status) => {
        const { path, headers } = askFor({ [place]: 'v0' });
        const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(
          ([name, value]) => `${name}: ${value}`,
        );
        const websocket = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
        const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
        const bytes = head(`GET ${path} HTTP/1.1`, ...lines, ...websocket, key);
        expect((await sendBytes(gateway().https, bytes)).status).toBe(status);
      },
    );

    it.concurrent.each(pairs)(
      'a retired version in the %s and a served one in the %s get 400',
      async (one, other) => {
        for (const said of [
          { [one]: 'v0', [other]: 'v2' },
          { [one]: 'v2', [other]: 'v0' },
        ])
          expect((await ask(askFor(said))).status).toBe(400);
      },
    );

    it.each([
      ['no carrier', {}],
      ['a wildcard', { accept: '*/*' }],
      ['a version in the type of an empty body', { 'content-type': 'application/vnd.acme.v2+json' }],
    ])('STAT-1: %s, without a default, gets 400', async (_name, headers) => {
      const answer = await ask({ path: '/api/orders', headers: headers as Record<string, string> });
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ supportedVersions: ['v3', 'v2'] });
      expect(answer.headers.vary).toBe('Accept, API-Version');
    });

    it('a path without a version gets 404, and a host without a version gets 421', async () => {
      expect((await ask({ path: '/api/vendors/orders' })).status).toBe(404);
      expect((await ask({ path: '/api/orders', headers: { host: 'www.api.example.com' } })).status).toBe(421);
    });

    it('RET-5: a retired version in the path and in a header gets 410, not a redirect', async () => {
      expect((await ask(askFor({ path: 'v0', accept: 'v0' }))).status).toBe(410);
      expect((await ask(askFor({ path: 'v0', subdomain: 'v0' }))).status).toBe(301);
    });

    it('NEG-3: a served version in Accept is used instead of a retired one', async () => {
      const accept = 'application/vnd.acme.v0+json, application/vnd.acme.v2+json;q=0.5';
      expectOneVersion(await ask({ path: '/api/orders/7?x=1', headers: { accept } }), 'v2');
      const beside = { accept: 'application/vnd.acme.v0+json, text/html' };
      expect((await ask({ path: '/api/orders', headers: beside })).status).toBe(410);
    });

    it.each(['*/*;q=0', 'application/vnd.acme.v2+json;q=0, application/vnd.acme.v3+json;q=0, */*'])(
      'NEG-8: Accept: %s excludes every version and gets 406 with the versions',
      async (accept) => {
        const { status, json, headers } = await ask({ path: '/api/orders', headers: { accept } });
        expect(status).toBe(406);
        expect(json).toEqual({
          error: 'Not Acceptable',
          message: 'The Accept header excludes every version that is served. Versions: v3, v2.',
          supportedVersions: ['v3', 'v2'],
        });
        expect(headers.vary).toBe('Accept, API-Version');
        expect(await gateway().accessLine(headers['x-request-id'])).toMatchObject({
          refusal: 'version_unacceptable',
          carrier: 'accept',
        });
      },
    );

    it('CACHE-2, NEG-7: Vary lists every header that can select a version', async () => {
      for (const place of PLACES) {
        expect((await ask(askFor({ [place]: 'v2' }))).headers.vary).toBe('API-Version, Accept');
        expect((await ask(askFor({ [place]: 'v7' }))).headers.vary).toBe('Accept, API-Version');
      }
      const byDefault = await ask({ path: '/api/payments' });
      expect([byDefault.status, byDefault.headers.vary]).toEqual([200, 'Payments-Version']);
    });
  });
}
