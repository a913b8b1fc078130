// Client certificates: whom they identify, which tokens are bound to them, and that no header replaces one.
import { createHash, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { runGateway } from '../../support/gateway.ts';
import { overHttp1, overHttp2 } from '../../support/http-client.ts';
import { challengesOf, type Fixture, seen } from './fixture.ts';

export function certificates({
  ask,
  bearer,
  client,
  environment,
  gateway,
  logged,
  makeKey,
  pairs,
}: Fixture): void {
  describe('a client certificate', () => {
    it.each([
      ['HTTP/1.1', overHttp1],
      ['HTTP/2', overHttp2],
    ])('over %s identifies the caller if it is verified, and only then', async (_, over) => {
      await using known = over(gateway().https, { pair: pairs().proven });
      const answer = await ask('/api/v1/orders', { 'x-consumer-id': 'forged' }, { over: known });
      expect(answer.status).toBe(200);
      expect(seen(answer, /^x.consumer/i)).toEqual([
        ['x-consumer-id', 'billing.acme.example'],
        ['x-consumer-scopes', 'orders:read'],
      ]);
      await using stranger = over(gateway().https, { pair: pairs().unproven });
      const missing = await ask('/api/v1/orders', {}, { over: stranger });
      expect(missing.status).toBe(401);
      expect(await logged(missing)).toMatchObject({ refusal: 'credentials_missing' });
    });

    it.each([
      ['HTTP/1.1', overHttp1],
      ['HTTP/2', overHttp2],
    ])(
      'JWT-6: over %s, a token bound to it is accepted only from a client that shows that certificate',
      async (_, over) => {
        const { raw } = new X509Certificate(pairs().proven.cert);
        const thumbprint = createHash('sha256').update(raw).digest('base64url');
        const bound = await bearer({
          cnf: { 'x5t#S256': thumbprint },
          client_id: 'bound',
          scope: 'orders:read',
        });
        await using known = over(gateway().https, { pair: pairs().proven });
        const answer = await ask('/api/v1/orders', bound, { over: known });
        expect(answer.status).toBe(200);
        expect(await logged(answer)).toMatchObject({ consumer: 'bound' });

        const sameKey = await bearer({ cnf: { 'x5t#S256': thumbprint, jkt: 'a' }, scope: 'orders:read' });
        await using other = over(gateway().https, { pair: pairs().twoNames });
        await using stranger = over(gateway().https, { pair: pairs().unproven });
        for (const [client_, token] of [
          [client(), bound],
          [other, bound],
          [stranger, bound],
          [known, sameKey],
        ] as const) {
          const refused = await ask('/api/v1/orders', token, { over: client_ });
          expect(refused.status).toBe(401);
          expect(challengesOf(refused)[0]).toContain('error="invalid_token"');
          expect(await logged(refused)).toMatchObject({ refusal: 'token_invalid', token_flaw: 'binding' });
        }
      },
    );

    it('XFF-1: in a header is ignored, and does not reach the upstream', async () => {
      const said = pairs().proven.cert.replaceAll('\n', '');
      const forged = {
        'client-cert': `:${Buffer.from(new X509Certificate(pairs().proven.cert).raw).toString('base64')}:`,
        'client-cert-chain': ':AA==:',
        'x-client-cert': said,
        'x-forwarded-client-cert': `By=a;Hash=b;Subject="CN=billing.acme.example"`,
        'x-forwarded-for': '127.0.0.1',
        'x-consumer-id': 'billing.acme.example',
      };
      const refused = await ask('/api/v1/orders', forged);
      expect(refused.status).toBe(401);
      expect(await logged(refused)).toMatchObject({ refusal: 'credentials_missing' });
      const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
      const answer = await ask('/api/v1/orders', { ...forged, 'x-api-key': secret });
      expect(seen(answer, /cert/i)).toEqual([]);
      expect(seen(answer, /^x.consumer/i)).toContainEqual(['x-consumer-id', 'by-key']);
    });

    it('with several names gets 401', async () => {
      await using several = overHttp1(gateway().https, { pair: pairs().twoNames });
      const answer = await ask('/api/v1/orders', {}, { over: several });
      expect(answer.status).toBe(401);
      expect(await logged(answer)).toMatchObject({ refusal: 'certificate_invalid' });
    });

    it('is checked in the handshake if the listener requires one', async () => {
      await using strict = await runGateway({
        config: 'callers/gateway.yaml',
        policies: 'callers/policies',
        environment: { ...environment(), CLIENTS: 'required' },
      });
      await using known = overHttp1(strict.https, { pair: pairs().proven });
      expect((await ask('/api/v1/orders', {}, { over: known })).status).toBe(200);
      for (const shown of [{}, { pair: pairs().unproven }]) {
        await using refused = overHttp1(strict.https, shown);
        await expect(ask('/api/v1/orders', {}, { over: refused })).rejects.toThrow();
      }
    });
  });
}
