// The plain listener with `mode: redirect` redirects requests without credentials and refuses others with 400.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorityGateway } from '../support/authority-gateway.ts';
import type { RunningGateway } from '../support/gateway.ts';
import { askNamed, type NamedAsk } from '../support/named-client.ts';
import { head, sendBytes } from '../support/raw-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;

beforeAll(async () => {
  // Its upstream gets no request.
  ({ gateway } = stack.use(await authorityGateway({ ECHO: 'http://127.0.0.1:9' })));
});
afterAll(() => stack.disposeAsync());

const ask = (given: Partial<NamedAsk>) =>
  askNamed(gateway.http, 'plain', { host: 'a.example', path: '/api/orders/7?x=1', ...given });

describe('TLS-5: a plain request without credentials', () => {
  it.each([
    ['GET', 301],
    ['HEAD', 301],
    ['POST', 308],
    ['PUT', 308],
    ['PATCH', 308],
    ['DELETE', 308],
    ['OPTIONS', 308],
  ])('%s is redirected with %i', async (method, status) => {
    const answer = await ask({ method });
    expect(answer.status).toBe(status);
    expect(answer.valuesOf('location')).toEqual(['https://a.example:8443/api/orders/7?x=1']);
    expect(answer.valuesOf('cache-control')).toEqual(['no-store']);
    expect(answer.valuesOf('connection')).toEqual(['close']);
    // TLS-6: not on plain HTTP.
    expect(answer.valuesOf('strict-transport-security')).toEqual([]);
    const line = await gateway.accessLine(answer.valuesOf('x-request-id')[0]);
    expect(line).toMatchObject({ refusal: 'plain_http_moved', status, scheme: 'http' });
  });

  it('keeps the bytes of its path and query, and gets the error body', async () => {
    const path = '/api/orders/a%2Fb/%C3%A9;d=1?q=%2f&&z==&u=https://evil.example/';
    const answer = await ask({ path });
    expect(answer.valuesOf('location')).toEqual([`https://a.example:8443${path}`]);
    expect(JSON.parse(answer.text)).toEqual({
      error: 'Moved Permanently',
      message: 'This address accepts only HTTPS. The resource is at the https URL.',
    });
  });

  it.each([
    ['an unknown host', 'evil.example', 'https://a.example:8443'],
    ['an unknown host with a port', 'evil.example:1', 'https://a.example:8443'],
    ['an address', '127.0.0.1', 'https://a.example:8443'],
    ['a host below one that is served', 'evil.a.example', 'https://a.example:8443'],
    ['a host above one that is served', 'a.example.evil.example', 'https://a.example:8443'],
    ['the public host with another port', 'a.example:80', 'https://a.example:8443'],
    ['another host that a policy names', 'B.example:80', 'https://b.example:8443'],
    ['a version in the host', 'v1.a.example', 'https://v1.a.example:8443'],
  ])('for %s is redirected to a configured authority', async (_title, host, origin) => {
    expect((await ask({ host })).valuesOf('location')).toEqual([`${origin}/api/orders/7?x=1`]);
  });

  it.each([
    ['//evil.example/x', 400],
    ['/\\evil.example', 400],
    ['/%0d%0aSet-Cookie:a=b', 400],
    ['/.evil.example', 301],
    ['/@evil.example', 301],
    ['http://evil.example/x', 301],
  ])('with the target %s is not redirected elsewhere', async (path, status) => {
    const answer = await sendBytes(gateway.http, head(`GET ${path} HTTP/1.1`, 'Host: a.example'), {
      tls: false,
    });
    expect(answer.status).toBe(status);
    const { location = 'https://a.example:8443/' } = answer.headers;
    expect(new URL(location).origin).toBe('https://a.example:8443');
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('TLS-5: mode redirect answers 400 without Location to', () => {
  it.each<[string, Partial<NamedAsk>]>([
    ['an Authorization field', { headers: { authorization: 'Bearer canary-7f3a' } }],
    ['an Authorization field without a scheme', { headers: { authorization: 'canary-7f3a' } }],
    ['a cookie', { headers: { cookie: 'canary-7f3a=1' } }],
    ['an API key', { headers: { 'x-api-key': 'canary-7f3a' } }],
    ['credentials for a proxy', { headers: { 'proxy-authorization': 'Basic canary-7f3a' } }],
    ['a token in the URL', { path: '/api/orders?access_token=canary-7f3a' }],
    ['a token in the URL, encoded', { path: '/api/orders?x=1&acces%73_token=canary-7f3a' }],
    ['a key in the URL', { path: '/api/orders?api_key=canary-7f3a' }],
    ['a parameter that the configuration forbids', { path: '/api/orders?session=canary-7f3a' }],
    [
      'a client that came to a proxy by https',
      { from: '127.0.0.2', headers: { 'x-forwarded-proto': 'https' } },
    ],
  ])('%s', async (_title, given) => {
    const answer = await ask(given);
    expect(answer.status).toBe(400);
    expect(answer.valuesOf('location')).toEqual([]);
    expect(JSON.parse(answer.text)).toEqual({
      error: 'Bad Request',
      message: 'This address accepts only HTTPS. Send the request to the https URL.',
    });
    expect(answer.text + answer.lines.join()).not.toContain('canary');
    const line = await gateway.accessLine(answer.valuesOf('x-request-id')[0]);
    expect(line).toMatchObject({ refusal: 'plain_http' });
    expect(JSON.stringify(line)).not.toContain('canary');
  });

  it.each([
    ['user information in the target', 'GET http://me:canary-7f3a@a.example/ HTTP/1.1', 'Host: a.example'],
    ['user information in Host', 'GET / HTTP/1.1', 'Host: me:canary-7f3a@a.example'],
    ['a malformed request', 'GET /a/../b HTTP/1.1', 'Host: a.example'],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1', 'Host: a.example'],
    ['CONNECT', 'CONNECT a.example:443 HTTP/1.1', 'Host: a.example'],
  ])('%s', async (_title, line, host) => {
    const answer = await sendBytes(gateway.http, head(line, host), { tls: false });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.headers.location).toBeUndefined();
    expect(answer.text).not.toContain('canary');
  });
});
