// RET-3: whatever a client sends, a redirect is one line and leads to an authority of the configuration.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { head, sendBytes } from '../support/raw-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;

beforeAll(async () => {
  // No upstream is needed: every request here is redirected or refused.
  const environment = { ECHO: 'http://127.0.0.1:9' };
  gateway = stack.use(await runGateway({ policies: 'open-redirects', environment }));
});
afterAll(() => stack.disposeAsync());

const OURS = new Set(['https://127.0.0.1', 'https://v2.hosts.example.com']);

const piece = fc.constantFrom(
  ...'a7/\\@:;.,?#&=<>"\'|^`{}[]~!$*()',
  '//',
  '..',
  '%2F',
  '%2f',
  '%5C',
  '%2E%2E',
  '%0d%0a',
  '%00',
  '%09',
  '%40',
  'evil.example',
  '//evil.example/',
  '/\\evil.example',
  'https://evil.example',
  '%2F%2Fevil.example',
  'é',
);
const tail = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
const prefix = fc.constantFrom(
  ['127.0.0.1', '/api/v0/orders'],
  ['127.0.0.1', '/api/v0/orders/'],
  ['127.0.0.1', '/api/v0/orders/of/'],
  ['v0.api.example.com', '/api/orders/'],
  ['v1.hosts.example.com', '/api/hosts'],
  ['v1.hosts.example.com', '/api/hosts/'],
  ['127.0.0.1', 'https://127.0.0.1/api/v0/orders/'],
  ['evil.example', 'https://v1.hosts.example.com/api/hosts/'],
  ['127.0.0.1', '/'],
) satisfies fc.Arbitrary<readonly [host: string, path: string]>;
const lines = fc.subarray([
  'X-Forwarded-Host: evil.example',
  'Forwarded: host=evil.example;proto=http',
  'X-Forwarded-Proto: http',
  'X-Original-URL: //evil.example/',
  'Origin: https://evil.example',
  'Referer: https://evil.example/',
]);

describe('no request is redirected elsewhere', () => {
  it('RET-3: whatever the target, Host and forwarded fields contain', async () => {
    let redirects = 0;
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS');
    const property = fc.asyncProperty(
      method,
      prefix,
      tail,
      tail,
      lines,
      async (verb, at, rest, query, more) => {
        const [host, path] = at;
        const target = `${path}${rest}${query === '' ? '' : `?${query}`}`;
        const bytes = head(`${verb} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...more);
        const answer = await sendBytes(gateway.https, bytes);
        const { location } = answer.headers;
        const moved = answer.status === 301 || answer.status === 308;
        expect(location !== undefined).toBe(moved);
        if (location === undefined) return;
        redirects += 1;
        expect(answer.text.match(/^location:/gim)).toHaveLength(1);
        expect(OURS).toContain(new URL(location).origin);
        // Strict readers of RFC 3986 must accept it too, not only parsers that repair URLs.
        expect(location).toMatch(/^https:\/\/[a-z0-9.]+\/api\/(?:v2\/orders|hosts)(?:[/?][\x21-\x7e]*)?$/);
        expect(location).not.toMatch(/[<>"\\\s]/);
      },
    );
    await fc.assert(property, { numRuns: 300 });
    // Most drawn requests must be redirected, else the property proves little.
    expect(redirects).toBeGreaterThan(60);
  });
});
