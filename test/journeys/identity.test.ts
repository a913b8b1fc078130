// Tokens and key sets: an issuer that is down, comes up and rotates, and tokens with one error each.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
let echoUrl = '';
beforeAll(async () => {
  echoUrl = stack.adopt(await startEcho({ port: 0 }), (service) => service.close()).url;
});
afterAll(() => stack.disposeAsync());

interface Fixture {
  readonly gateway: RunningGateway;
  readonly issuer: TestIssuer;
  readonly client: Client;
  readonly askWith: (token: string) => Promise<Answer>;
}

async function open({ down }: { readonly down: boolean }): Promise<Fixture> {
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  if (down) issuer.down();
  const gateway = stack.use(
    await runGateway({ policies: 'identity', environment: { ECHO: echoUrl, ISSUER: issuer.url } }),
  );
  const client = stack.use(overHttp1(gateway.https));
  const askWith = (token: string) =>
    client.ask({ path: '/api/v1/orders', headers: { authorization: `Bearer ${token}` } });
  return { gateway, issuer, client, askWith };
}

describe('an issuer that is unavailable', () => {
  it('JWT-4: identity_unavailable is 503 and never 401, until the keys are available', async () => {
    const { gateway, issuer, askWith } = await open({ down: true });
    const token = await issuer.sign();
    const answer = await askWith(token);
    const wait = Number(answer.headers['retry-after']);
    expect(answer).toMatchObject({
      status: 503,
      json: {
        error: 'Service Unavailable',
        message: 'Credentials cannot be verified right now.',
        retryAfter: wait,
        estimatedRestoration: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      },
      headers: { 'proxy-status': 'sundial; error=destination_unavailable', 'cache-control': 'no-store' },
    });
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(`${answer.text}${JSON.stringify(answer.lines)}`).not.toMatch(/127\.0\.0\.1|jwks|ECONN|fetch/i);
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ fault: 'identity_unavailable', status: 503 });
    // Liveness and readiness do not depend on an issuer.
    await using admin = overHttp1(gateway.admin, { tls: false });
    expect((await admin.ask({ path: '/-/ready' })).status).toBe(200);

    issuer.up();
    await vi.waitFor(async () => expect((await askWith(token)).status).toBe(200), {
      timeout: 20_000,
      interval: 100,
    });
  });

  it('does not affect tokens with known keys', async () => {
    const { issuer, askWith } = await open({ down: false });
    expect((await askWith(await issuer.sign())).status).toBe(200);
    issuer.down();
    for (let count = 0; count < 5; count += 1) expect((await askWith(await issuer.sign())).status).toBe(200);
  });

  it('gets one fetch for two hundred tokens with unknown keys', async () => {
    const { issuer, askWith } = await open({ down: false });
    expect((await askWith(await issuer.sign())).status).toBe(200);
    const before = issuer.fetches;
    const tokens = await Promise.all(
      Array.from({ length: 200 }, (_, index) => issuer.sign({}, { kid: `unknown-${index}` })),
    );
    const statuses = new Set((await Promise.all(tokens.map(askWith))).map(({ status }) => status));
    expect([...statuses]).toEqual([401]);
    expect(issuer.fetches - before).toBeLessThanOrEqual(1);
  });
});

describe('a token', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await open({ down: false });
  });
  const hour = 3600;
  const nowSeconds = () => Math.floor(Date.now() / 1000);

  it.concurrent.each([
    ['another issuer', () => fixture.issuer.sign({ iss: 'https://evil.example' })],
    ['another audience', () => fixture.issuer.sign({ aud: 'someone-else' })],
    ['no audience', () => fixture.issuer.sign({ aud: undefined })],
    [
      'an expiry in the past',
      () => fixture.issuer.sign({ iat: nowSeconds() - 2 * hour, exp: nowSeconds() - hour }),
    ],
    ['no expiry', () => fixture.issuer.sign({ exp: undefined })],
    ['a start in the future', () => fixture.issuer.sign({ nbf: nowSeconds() + hour })],
    ['a longer lifetime than allowed', () => fixture.issuer.sign({ exp: nowSeconds() + 2 * hour })],
    ['another type', () => fixture.issuer.sign({}, { typ: 'id+jwt' })],
    ['no signature', async () => `${(await fixture.issuer.sign()).split('.').slice(0, 2).join('.')}.`],
    ['an algorithm of none', () => fixture.issuer.sign({}, '{"alg":"none","typ":"at+jwt"}')],
    ['a changed claim', async () => forge(await fixture.issuer.sign())],
  ])('JWT-2: with %s gets 401 token_invalid', async (_what, make) => {
    const answer = await fixture.askWith(await make());
    expect(answer.status).toBe(401);
    expect(answer.json.error).toBe('Unauthorized');
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="orders", error="invalid_token", error_description="[^"]+"$/,
    );
    expect(answer.headers).not.toHaveProperty('x-ratelimit-remaining');
    const line = await fixture.gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'token_invalid' });
    expect(line).not.toHaveProperty('consumer');
  });

  it('with ES256 is valid, and is not forwarded to the upstream', async () => {
    const answer = await fixture.askWith(await fixture.issuer.sign({}, { alg: 'ES256' }));
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.json.headers)).not.toMatch(/authorization/i);
  });

  it('selects the limits of its consumer, which all its tokens share', async () => {
    const remaining = async (client_id: string) =>
      Number(
        (await fixture.askWith(await fixture.issuer.sign({ client_id }))).headers['x-ratelimit-remaining'],
      );
    const first = await remaining('globex');
    expect(await remaining('globex')).toBe(first - 1);
    expect(await remaining('initech')).toBe(first);
  });

  it('is never logged', () => {
    expect(JSON.stringify(fixture.gateway.log)).not.toMatch(/eyJ|Bearer/);
  });
});

function forge(token: string): string {
  const [head, claims = '', signature] = token.split('.');
  const changed = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), client_id: 'admin' };
  return [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
}
