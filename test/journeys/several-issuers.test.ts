// One API with three issuers: two sign tokens, and one introspects opaque tokens.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const SECRET = 'canary-client-secret';
const stack = new AsyncDisposableStack();
let main: TestIssuer;
let partner: TestIssuer;
let environment: Readonly<Record<string, string>>;
let gateway: RunningGateway;
let client: Client;
/** Tokens for which the endpoint got a request. */
let asked: string[] = [];
let endpointIs: 'up' | 'down' = 'up';

/** `good-…` is active for one client, `narrow-…` has another scope, all others are unknown. */
const introspect: RequestListener = async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const token = new URLSearchParams(Buffer.concat(chunks).toString()).get('token') ?? '';
  asked.push(token);
  if (endpointIs === 'down') response.destroy();
  else if (request.headers.authorization !== `Basic ${btoa(`sundial:${SECRET}`)}`)
    response.writeHead(401).end();
  else if (token.startsWith('good-'))
    response.end('{"active":true,"client_id":"initech","scope":"orders:read","aud":"api"}');
  else if (token.startsWith('posing-'))
    response.end('{"active":true,"client_id":"partner/acme","scope":"orders:read","aud":"api"}');
  else if (token.startsWith('narrow-'))
    response.end('{"active":true,"client_id":"initech","scope":"bills:read","aud":["api"]}');
  else response.end('{"active":false}');
};

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  main = stack.adopt(await startTestIssuer(), (service) => service.close());
  partner = stack.adopt(await startTestIssuer(), (service) => service.close());
  const endpoint = createServer(introspect);
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void endpoint.close().closeAllConnections());
  environment = {
    ECHO: echo.url,
    ISSUER: main.url,
    PARTNER: partner.url,
    ASKED: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/introspect`,
    CLIENT_SECRET: SECRET,
  };
  gateway = stack.use(await startFixture());
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

const startFixture = () =>
  runGateway({
    config: 'several-issuers/gateway.yaml',
    policies: 'several-issuers/policies',
    environment,
  });

const ask = (token: string, path = '/api/v1/orders') =>
  client.ask({ path, headers: { authorization: `Bearer ${token}` } });

/** The status, and the consumer or the error in the log. */
async function outcome(token: string, path?: string) {
  const answer = await ask(token, path);
  const line = await gateway.accessLine(answer.headers['x-request-id']);
  return [answer.status, line.consumer ?? line.token_flaw ?? line.refusal ?? line.fault];
}

describe('an API of several issuers', () => {
  it.each<[string, () => string | Promise<string>, number, string]>([
    ['the first issuer', () => main.sign(), 200, 'acme'],
    ['the second issuer', () => partner.sign({ client_id: 'globex' }), 200, 'partner/globex'],
    [
      'the second issuer, for a consumer of the first',
      () => partner.sign({ client_id: 'acme' }),
      200,
      'partner/acme',
    ],
    [
      'the first issuer, for a consumer of the second',
      () => main.sign({ client_id: 'partner/acme' }),
      401,
      'consumer',
    ],
    ['the endpoint, for a consumer of the second issuer', () => 'posing-token', 401, 'consumer'],
    ['the endpoint', () => 'good-opaque-token', 200, 'initech'],
    ['the first issuer, in the name of the second', () => main.sign({ iss: partner.url }), 401, 'signature'],
    ['the second issuer, in the name of the first', () => partner.sign({ iss: main.url }), 401, 'signature'],
    ['an unknown issuer', () => main.sign({ iss: 'https://evil.example' }), 401, 'issuer'],
    ['the endpoint, to which it is unknown', () => 'made-up', 401, 'inactive'],
    ['the endpoint, for another scope', () => 'narrow-token', 403, 'initech'],
  ])('JWT-1: accepts or refuses a token of %s', async (_name, make, status, says) => {
    expect(await outcome(await make())).toEqual([status, says]);
  });

  it('sends no JWT to the introspection endpoint', () => {
    expect(asked.filter((token) => token.startsWith('eyJ'))).toEqual([]);
  });

  it('introspects a token once, and only for the Bearer scheme', async () => {
    asked = [];
    for (let count = 0; count < 5; count += 1) expect((await ask('good-twice')).status).toBe(200);
    const basic = { authorization: `Basic ${btoa('good:opaque')}` };
    expect((await client.ask({ path: '/api/v1/bills', headers: basic })).status).toBe(401);
    expect(asked).toEqual(['good-twice']);
  });
});

describe('an introspection endpoint that is down', () => {
  it('gives 503 identity_unavailable for unknown tokens only; other issuers still work', async () => {
    expect((await ask('good-known', '/api/v1/bills')).status).toBe(200);
    endpointIs = 'down';
    const answer = await ask('good-unknown', '/api/v1/bills');
    expect(answer).toMatchObject({
      status: 503,
      json: { error: 'Service Unavailable' },
      headers: { 'cache-control': 'no-store' },
    });
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    expect(await outcome('good-known', '/api/v1/bills')).toEqual([200, 'initech']);
    expect(await outcome(await main.sign())).toEqual([200, 'acme']);
    asked = [];
    for (let count = 0; count < 10; count += 1)
      expect(await outcome(`good-${count}`, '/api/v1/bills')).toEqual([503, 'identity_unavailable']);
    // These two complete three failures in a row. Each was retried once, because its connection broke.
    expect(asked).toEqual(['good-0', 'good-0', 'good-1', 'good-1']);
    expect(gateway.log).toContainEqual(
      expect.objectContaining({
        message: 'token introspection fails',
        identity: 'opaque',
      }),
    );
  });

  it('neither tokens nor the client secret are logged', () => {
    expect(gateway.logText()).not.toMatch(/canary|good-|eyJ|Basic|Bearer/);
  });
});

describe('a flood of invalid opaque tokens', () => {
  it('RL-7: gets 429 over the limit of its address, and known tokens still work', async () => {
    endpointIs = 'up';
    // A gateway of its own, because the budget of this address is used up afterwards.
    await using gateway = await startFixture();
    await using client = overHttp1(gateway.https);
    const ask = (token: string) =>
      client.ask({ path: '/api/v1/orders', headers: { authorization: `Bearer ${token}` } });
    expect((await ask('good-known')).status).toBe(200);
    asked = [];
    const answers = await Promise.all(Array.from({ length: 90 }, (_, index) => ask(`flood-${index}`)));
    const limited = answers.filter(({ status }) => status === 429);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect(asked.length).toBeLessThan(75);
    expect(asked.length + limited.length).toBe(90);
    const [first] = limited;
    expect(first?.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
    expect(first?.headers).not.toHaveProperty('www-authenticate');
    expect(first?.json.message).toBe(
      'Rate limit exceeded. This address has sent too many invalid tokens. Retry in 1 second.',
    );
    expect(await gateway.accessLine(first?.headers['x-request-id'])).toMatchObject({
      refusal: 'tokens_limited',
    });
    expect((await ask('good-known')).status).toBe(200);
    expect((await ask(await main.sign())).status).toBe(200);
    expect(await gateway.metric('sundial_auth_failures_total{api="orders",reason="tokens_limited"}')).toBe(
      limited.length,
    );
  });
});
