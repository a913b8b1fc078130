// An internal error, caused by a broken clock: one 500, and the next request is judged again.
import { describe, expect, it } from 'vitest';
import { runGateway } from '../support/gateway.ts';
import { overHttp1, overHttp2 } from '../support/http-client.ts';
import { expectNothingOfTheCause } from '../support/inside.ts';

describe('an internal error', () => {
  it.each(['HTTP/1.1', 'HTTP/2'])(
    'internal: 500 with the request id and without the cause, over %s',
    async (protocol) => {
      let now = Date.UTC(2026, 10, 20);
      await using own = await runGateway({
        policies: 'refusals',
        lifecycleNow: () => now,
        environment: { ECHO: 'http://127.0.0.1:9' },
      });
      await using client = protocol === 'HTTP/2' ? overHttp2(own.https) : overHttp1(own.https);
      now = Number.NaN;
      const answer = await client.ask({ path: '/api/open' });
      expect(answer.status).toBe(500);
      expect(answer.json).toEqual({
        error: 'Internal Server Error',
        message: 'An unexpected error occurred.',
        requestId: answer.headers['x-request-id'],
      });
      expect(answer.headers['proxy-status']).toBe('sundial; error=proxy_internal_error');
      expectNothingOfTheCause(answer);
      expect(await own.accessLine(answer.headers['x-request-id'])).toMatchObject({
        fault: 'internal',
        status: 500,
      });
      now = Date.UTC(2026, 10, 20);
      // Its upstream is a closed port, so a forwarded request gets 502.
      expect((await client.ask({ path: '/api/open' })).status).toBe(502);
    },
  );
});
