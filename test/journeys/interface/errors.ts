// "Errors" of the specification: each status with headers and members, from the samples or the gateway.
import { describe, expect, it } from 'vitest';
import { expectNothingOfTheCause } from '../../support/inside.ts';
import { head, sendBytes } from '../../support/raw-client.ts';
import type { InterfaceFixture } from './fixture.ts';

const SENTENCE = expect.stringMatching(/^[A-Z].+\.$/);

export function errors(fixture: () => InterfaceFixture): void {
  describe('Errors', () => {
    it.each([
      [501, 'Not Implemented', 'BREW /api/v2/catalog HTTP/1.1'],
      [505, 'HTTP Version Not Supported', 'GET /api/v2/catalog HTTP/1.2'],
      [400, 'Bad Request', 'GET /api/v2/../catalog HTTP/1.1'],
    ])('ERR-1: %i %s has the error body', async (status, error, line) => {
      const answer = await sendBytes(fixture().samples.gateway.https, head(line, 'Host: 127.0.0.1'));
      expect(answer).toMatchObject({
        status,
        headers: { 'content-type': 'application/json; charset=utf-8' },
      });
      expect(answer.json).toEqual({ error, message: SENTENCE });
    });

    it('ERR-7: 500 has a request id and nothing about the cause', async () => {
      const answer = await fixture().ask('/api/v2/catalog', { at: Number.NaN });
      expect(answer.status).toBe(500);
      expect(answer.json).toEqual({
        error: 'Internal Server Error',
        message: SENTENCE,
        requestId: answer.headers['x-request-id'],
      });
      expectNothingOfTheCause(answer);
    });

    it('FWD-18: 502 names the service that failed', async () => {
      const answer = await fixture().ask('/api/echo?hangup=before');
      expect(answer.status).toBe(502);
      expect(answer.json).toEqual({ error: 'Bad Gateway', message: SENTENCE, service: 'echo' });
      expectNothingOfTheCause(answer);
    });

    it('ERR-5: 503 in maintenance has the remaining time, in seconds and as an instant', async () => {
      const answer = await fixture().ask('/api/closed/astrolabe');
      const seconds = Number(answer.headers['retry-after']);
      expect(answer.status).toBe(503);
      expect(seconds).toBeGreaterThan(0);
      expect(answer.json).toEqual({
        error: 'Service Unavailable',
        message: SENTENCE,
        retryAfter: seconds,
        estimatedRestoration: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      });
    });

    it('FWD-17: 504 has the timeout with its unit', async () => {
      const answer = await fixture().ask('/api/slow?hang=1');
      expect(answer.status).toBe(504);
      expect(answer.json).toEqual({ error: 'Gateway Timeout', message: SENTENCE, timeout: '0.2s' });
      expectNothingOfTheCause(answer);
    });

    it.each([
      ['a body that is not JSON', { method: 'POST', path: '/api/v2/orders', body: '{"a":' }, 400],
      ['an invalid page number', { path: '/api/v2/orders?page=0' }, 400],
      ['an unknown resource', { path: '/api/v2/orders/999999' }, 404],
      ['a path that names a file', { path: '/api/v2/orders/..%2f..%2fetc%2fpasswd' }, 400],
    ])(
      '%s gets an error status and no internal details in the body',
      async (_what, { path, ...asking }, status) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await fixture().ask(path, { headers, ...asking });
        expect(answer.status).toBe(status);
        expect(answer.json).toMatchObject({ error: expect.any(String), message: expect.any(String) });
        expect(answer.text).not.toMatch(/SQLITE|SELECT|\.[jt]s\b|node_modules|127\.0\.0\.1|\bat \S+:\d/);
      },
    );
  });
}
