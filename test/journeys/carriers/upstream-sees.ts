// The upstream gets one version, whatever carriers name it, and no path that could be read in two ways.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { head, sendBytes } from '../../support/raw-client.ts';
import { askFor } from './asks.ts';
import { expectOneVersion, type Fixture, seenBy, valuesOf } from './fixture.ts';

export function upstreamSees({ ask, gateway, upstream }: Fixture): void {
  describe('the upstream gets', () => {
    it('VER-9: one version, whatever carriers name it and in whatever form', async () => {
      const wildcard = fc.constantFrom(
        '*/*;q=0.1',
        'text/html',
        'application/vnd.acme.v7+json',
        'application/vnd.acme.v3+json;q=0.2',
      );
      const said = fc.record(
        {
          path: fc.constantFrom('v2', '%762'),
          subdomain: fc.constant('v2'),
          header: fc.constantFrom('2', 'v2', '2, v2'),
          query: fc.constantFrom('2', 'v2', '%32', '2&%76ersion=v2'),
          accept: fc.constant('v2'),
          contentType: fc.constant('v2'),
        },
        { requiredKeys: [] },
      );
      const property = fc.asyncProperty(
        said,
        fc.array(wildcard, { maxLength: 2 }),
        async (places, others) => {
          const request = askFor(Object.keys(places).length === 0 ? { path: 'v2' } : places);
          const { accept } = { accept: undefined, ...request.headers };
          const headers =
            accept === undefined
              ? request.headers
              : { ...request.headers, accept: [accept, ...others].join(', ') };
          expectOneVersion(await ask({ ...request, ...(headers && { headers }) }), 'v2');
        },
      );
      await fc.assert(property, { numRuns: 60 });
    });

    it('VER-8, VER-9: the rest of query, Accept and Content-Type', async () => {
      const answer = await ask({
        path: '/api/orders?a=%2f&version=2&&b=+&version=v2&version2=1',
        method: 'POST',
        body: '{}',
        headers: {
          accept: 'application/vnd.acme.v2+json;q=0.9, text/html;q=0.5,application/vnd.acme.v3+json;q=0.1',
          'content-type': 'application/vnd.acme+json; version=2; charset=utf-8',
        },
      });
      const seen = seenBy(answer);
      expect(seen.target).toBe('/echo?a=%2f&&b=+&version2=1');
      expect(valuesOf(seen, 'accept')).toEqual(['application/json; q=0.9, text/html;q=0.5']);
      expect(valuesOf(seen, 'content-type')).toEqual(['application/json; charset=utf-8']);
    });

    it('VER-9: no Accept if it contained only excluded versions', async () => {
      const answer = await ask({
        path: '/api/v2/orders',
        headers: { accept: 'application/vnd.acme.v3+json;q=0' },
      });
      expect(valuesOf(seenBy(answer), 'accept')).toEqual([]);
    });

    it('VER-9: the version in the path, if the policy wants it there', async () => {
      await ask({ path: '/api/hosts/8?x=1', headers: { 'api-version': '1' } });
      expect(upstream().count('/v2/hosts/8?x=1')).toBe(1);
    });

    it('VER-9: the version in the query, instead of the parameter that the client sent', async () => {
      const headers = { 'payments-version': '2025-04-01', 'api-version': '2' };
      const seen = seenBy(await ask({ path: '/api/payments?since=2025-03-01&edition=1&x=2', headers }));
      expect(seen.target).toBe('/echo?edition=2025-03-01&x=2');
      for (const name of Object.keys(headers)) expect(valuesOf(seen, name)).toEqual([]);
    });
  });

  describe('VER-7: an ambiguous path reaches no upstream', () => {
    it.each([
      ['/api/v0/../v2/orders', 400],
      ['/api/v0/%2e%2e/v2/orders', 400],
      ['/api/v0%2Forders', 404],
      ['/api/v0%252Forders', 404],
      ['/api//v0/orders', 404],
      ['/api/v0;a=b/orders', 404],
      ['/api/v2\\..\\v0/orders', 400],
      ['/api/v2%5C..%5Cv0/orders', 400],
      ['/api/v0/orders%00', 400],
      ['/API/v0/orders', 404],
      ['/api/v0./orders', 404],
      ['/api/v0/orders%zz', 400],
      ['/api/v0/orders#x', 400],
      ['http://other.example.com/api/v0/orders', 421],
      ['/api/%76%30/orders', 301],
      ['/api/v%30/orders', 301],
    ])('%s gets %i', async (target, status) => {
      const answer = await sendBytes(
        gateway().https,
        head(`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close'),
      );
      expect(answer.status).toBe(status);
    });
  });
}
