// DEP-6: deprecation changes signals and limits, and nothing else that upstream or client see.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1, overHttp2 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
const DAYS = 2 * 86_400_000;
const DEPRECATED = Date.UTC(2026, 0, 15);
const SUNSET = Date.UTC(2027, 0, 15);
let now = DEPRECATED;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const gateway = stack.use(
    await runGateway({ policies: 'unchanged', lifecycleNow: () => now, environment: { ECHO: echo.url } }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

/** The fields that a deprecated version may add or change. The date is the upstream's own. */
const MAY_DIFFER =
  /^(?:deprecation|sunset|link|warning|x-api-deprecation-info|x-ratelimit-|ratelimit|date$|keep-alive$)/;

function rest({ status, lines, text }: Answer) {
  return { status, lines: lines.filter(([name]) => !MAY_DIFFER.test(name)), text };
}

interface Row {
  readonly method: string;
  readonly path: string;
  readonly headers?: Fields;
  readonly body?: string;
}

const ASKS: readonly Row[] = [
  { method: 'GET', path: '?x=1&x=%2f' },
  { method: 'GET', path: '/a%2Fb?status=404' },
  { method: 'GET', path: '?status=500' },
  { method: 'GET', path: '?status=304&header=ETag:%22a%22', headers: { 'if-none-match': '"a"' } },
  {
    method: 'GET',
    path: '',
    headers: { range: 'bytes=0-3', 'if-range': '"a"', accept: 'text/html;q=0.5', 'x-own': '1' },
  },
  { method: 'GET', path: '?header=Cache-Control:max-age%3D60&header=Vary:Accept&header=Set-Cookie:a%3D1' },
  { method: 'HEAD', path: '/7' },
  {
    method: 'POST',
    path: '',
    headers: { 'content-type': 'application/json', 'if-match': '"a"' },
    body: '{"a":1}',
  },
  { method: 'PUT', path: '/7', headers: { 'content-type': 'text/plain', 'if-match': '*' }, body: 'text' },
  { method: 'PATCH', path: '/7', headers: { 'content-type': 'application/merge-patch+json' }, body: '{}' },
  { method: 'DELETE', path: '/7' },
  { method: 'OPTIONS', path: '/7' },
];

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe.each(['HTTP/1.1', 'HTTP/2'])(
  'DEP-6: over %s deprecation changes signals and limits, and nothing else',
  (over) => {
    it.each(ASKS)('$method $path', async ({ method, path, headers, body }) => {
      const askAt = async (instant: number): Promise<Answer> => {
        now = instant;
        const answer = await clients.get(over)?.ask({
          path: `/api/v1/orders${path}`,
          method,
          headers: { ...headers, 'x-request-id': 'the-same-one', traceparent: TRACE },
          ...(body === undefined ? {} : { body }),
        });
        if (answer === undefined) throw new Error(over);
        return answer;
      };
      // Further away than any response may be reused, by heuristics too (CACHE-6).
      const before = await askAt(DEPRECATED - DAYS);
      expect(before.headers).not.toHaveProperty('deprecation');
      for (const instant of [DEPRECATED, SUNSET - DAYS]) {
        const after = await askAt(instant);
        expect(after.headers).toMatchObject({ deprecation: '@1768435200', 'x-ratelimit-limit': '50000' });
        expect(rest(after)).toEqual(rest(before));
      }
    });
  },
);
