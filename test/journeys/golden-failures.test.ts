// Refusals and faults of a deprecated version as ordered pairs of name and value, with its lifecycle headers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrokenUpstream } from '../support/broken-upstream.ts';
import { runGateway } from '../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { freePorts } from '../support/ports.ts';

const stack = new AsyncDisposableStack();
let issuer: TestIssuer;
let client: Client;
let clientWithoutIssuer: Client;

beforeAll(async () => {
  const broken = stack.use(await startBrokenUpstream());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const [closed] = await freePorts(1);
  const environment = { BROKEN: broken.url, CLOSED: `http://127.0.0.1:${closed}` };
  const start = async (more: Readonly<Record<string, string>>) => {
    const gateway = await runGateway({
      policies: 'golden-failures',
      environment: { ...environment, ...more },
    });
    return stack.use(overHttp1(stack.use(gateway).https));
  };
  client = await start({ ISSUER: issuer.url });
  clientWithoutIssuer = await start({});
});
afterAll(() => stack.disposeAsync());

const MARKS: Readonly<Record<string, string>> = { 'x-request-id': '<uuid>', date: '<now>' };

/** Without the fields of the connection. */
function linesOf({ lines }: Answer): readonly string[] {
  return lines
    .filter(([name]) => name !== 'connection' && name !== 'keep-alive')
    .map(([name, value]) => `${name}: ${MARKS[name] ?? value}`);
}

const signals = (api: string, tail: string) => [
  'deprecation: @1748736000',
  'sunset: Tue, 01 Dec 2026 00:00:00 GMT',
  'x-api-deprecation-info: https://status.example.com/v1',
  `link: <https://dev.example.com/migrate/v2>; rel="deprecation"; type="text/html", <https://status.example.com/v1>; rel="status", <https://127.0.0.1/.well-known/lifecycle/${api}>; rel="sunset", <https://127.0.0.1/api/v2/${api}${tail}>; rel="successor-version"`,
  'warning: 299 - "Version v1 is deprecated and will be removed on 2026-12-01; see https://dev.example.com/migrate/v2"',
];
const LAST = ['x-request-id: <uuid>', 'strict-transport-security: max-age=86400', 'date: <now>'];
const opening = ({ body }: Answer, error: string) => [
  'content-type: application/json; charset=utf-8',
  `content-length: ${body.length}`,
  'cache-control: no-store',
  `proxy-status: sundial; error=${error}`,
];
const holding = async (claims: Record<string, unknown> = {}): Promise<Fields> => ({
  authorization: `Bearer ${await issuer.sign({ scope: 'members:read', ...claims })}`,
});
/** The quota of a consumer after one call. */
const QUOTA = [
  'x-ratelimit-limit: 1000',
  'x-ratelimit-remaining: 999',
  'ratelimit-policy: "deprecated";q=1000;w=3600',
  'ratelimit: "deprecated";r=999;t=4',
];

describe('DEP-7, CACHE-5: the header lines, in order, of the response to', () => {
  const past = () => ({
    iat: Math.floor(Date.now() / 1000) - 7200,
    exp: Math.floor(Date.now() / 1000) - 3600,
  });

  it.each<[string, () => Promise<Fields>, number, string, string, string]>([
    [
      'no token',
      async () => ({}),
      401,
      'http_request_error',
      'Bearer realm="members", resource_metadata="https://127.0.0.1/.well-known/oauth-protected-resource/api/members"',
      'This API needs an access token: send Authorization: Bearer <token>.',
    ],
    [
      'an expired token',
      () => holding(past()),
      401,
      'http_request_error',
      'Bearer realm="members", error="invalid_token", error_description="The access token expired"',
      'The access token expired.',
    ],
    [
      'a missing scope',
      () => holding({ scope: 'orders:read' }),
      403,
      'http_request_denied',
      'Bearer realm="members", error="insufficient_scope", scope="members:read"',
      'The access token lacks a scope: members:read.',
    ],
  ])('%s', async (_what, headers, status, error, challenge, message) => {
    const answer = await client.ask({ path: '/api/v1/members/7', headers: await headers() });
    expect(answer.status).toBe(status);
    expect(linesOf(answer)).toEqual([
      ...opening(answer, error),
      `www-authenticate: ${challenge}`,
      'vary: Accept',
      ...signals('members', '/7'),
      ...LAST,
    ]);
    expect(answer.json).toEqual({ error: status === 401 ? 'Unauthorized' : 'Forbidden', message });
  });

  it.each([
    ['close', 502, 'connection_terminated', 'closed the connection before it answered'],
    ['garbage', 502, 'http_protocol_error', 'returned an invalid response'],
    ['hang', 504, 'connection_read_timeout', 'did not answer in time'],
  ])('a request whose upstream fails: %s', async (deed, status, error, message) => {
    const answer = await client.ask({
      path: `/api/v1/members/${deed}`,
      headers: await holding({ client_id: deed }),
    });
    expect(answer.status).toBe(status);
    expect(linesOf(answer)).toEqual([
      ...opening(answer, `${error}; next-hop=members-v1`),
      'vary: Accept',
      ...signals('members', `/${deed}`),
      ...QUOTA,
      ...LAST,
    ]);
    expect(answer.json).toEqual({
      ...(status === 502
        ? { error: 'Bad Gateway', service: 'members-v1' }
        : { error: 'Gateway Timeout', timeout: '0.3s' }),
      message: `The members-v1 service ${message}.`,
    });
  });

  it('a request whose upstream is not reachable', async () => {
    const answer = await client.ask({ path: '/api/v1/absent/7' });
    expect(answer.status).toBe(502);
    expect(linesOf(answer)).toEqual([
      ...opening(answer, 'connection_refused; next-hop=absent-v1'),
      'vary: Accept',
      ...signals('absent', '/7'),
      ...LAST,
    ]);
  });

  it('a request whose issuer is not reachable', async () => {
    const answer = await clientWithoutIssuer.ask({ path: '/api/v1/members/7', headers: await holding() });
    expect(answer.status).toBe(503);
    expect(linesOf(answer)).toEqual([
      ...opening(answer, 'destination_unavailable'),
      'retry-after: 5',
      'vary: Accept',
      ...signals('members', '/7'),
      ...LAST,
    ]);
    expect(answer.json).toEqual({
      error: 'Service Unavailable',
      message: 'Credentials cannot be verified right now.',
      retryAfter: 5,
      estimatedRestoration: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  });

  it('HEAD, which are those of GET', async () => {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => client.ask({ path: '/api/v1/members', method })),
    );
    expect(head?.body.length).toBe(0);
    expect(head && linesOf(head)).toEqual(get && linesOf(get));
  });
});
