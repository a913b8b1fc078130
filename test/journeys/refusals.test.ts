// Every refusal of the pipeline, over HTTP/1.1 and HTTP/2: exact status, body, headers and logged reason.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { type Row, rows } from './refusals/rows.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
const clients = new Map<string, Client>();
const tokens = { good: '', readOnly: '', foreign: '' };

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  gateway = stack.use(
    await runGateway({
      policies: 'refusals',
      environment: { ECHO: echo.url, ISSUER: issuer.url },
    }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
  tokens.good = `Bearer ${await issuer.sign()}`;
  tokens.readOnly = `Bearer ${await issuer.sign({ scope: 'orders:read' })}`;
  tokens.foreign = `Bearer ${await issuer.sign({ aud: 'another-gateway' })}`;
});
afterAll(() => stack.disposeAsync());

function expectRefusal(answer: Answer, row: Row): void {
  expect(answer.status).toBe(row.status);
  expect(answer.json).toEqual(row.body);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(answer.body.length),
    'cache-control': 'no-store',
    'proxy-status': 'sundial; error=http_request_error',
    'strict-transport-security': 'max-age=86400',
    ...row.headers,
  });
  expect(`${JSON.stringify(answer.lines)}${answer.text}`).not.toContain('canary');
}

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s a request is refused', (protocol) => {
  const ask = (row: Ask): Promise<Answer> =>
    clients.get(protocol)?.ask(row) ?? Promise.reject(new Error(protocol));

  it.concurrent.each(rows)('$status $reason: $title', async (row) => {
    const answer = await ask(row.ask);
    expectRefusal(answer, row);
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: row.reason, status: row.status, aborted: false });
    expect(JSON.stringify(line)).not.toContain('canary');
  });

  it.concurrent.each(rows.filter(({ ask }) => ask.method === undefined))(
    'RET-9, ERR-3: HEAD gets the headers of $status $reason and no body: $title',
    async ({ ask: asked, status, headers }) => {
      const [get, answer] = await Promise.all([ask(asked), ask({ ...asked, method: 'HEAD' })]);
      expect(answer).toMatchObject({
        status,
        headers: { ...headers, 'content-length': String(get.body.length) },
      });
      expect(answer.body.length).toBe(0);
      expect(answer.complete).toBe(true);
    },
  );

  it.concurrent('401 token_invalid: a token for another audience, its challenge as in RFC 6750', async () => {
    const answer = await ask({ path: '/api/v2/orders', headers: { authorization: tokens.foreign } });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="orders", error="invalid_token", error_description="[ A-Za-z]+"$/,
    );
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      refusal: 'token_invalid',
    });
  });

  it.concurrent('403 scope_insufficient: a read token that is used to write', async () => {
    const headers = { authorization: tokens.readOnly };
    const answer = await ask({ path: '/api/v2/orders', method: 'POST', headers, body: '{}' });
    expect(answer).toMatchObject({
      status: 403,
      json: { error: 'Forbidden', message: 'The access token lacks a scope: orders:write.' },
      headers: {
        'www-authenticate': 'Bearer realm="orders", error="insufficient_scope", scope="orders:write"',
        'proxy-status': 'sundial; error=http_request_denied',
        'cache-control': 'no-store',
      },
    });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'scope_insufficient', consumer: 'acme' });
    expect((await ask({ path: '/api/v2/orders', headers })).status).toBe(200);
  });
});
