// The plain listener in its default mode serves nothing, redirects nothing and uses no token.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { head, sendBytes } from '../support/raw-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;

beforeAll(async () => {
  // Its upstream gets no request.
  gateway = stack.use(
    await runGateway({ policies: 'refusals', environment: { ECHO: 'http://127.0.0.1:9' } }),
  );
});
afterAll(() => stack.disposeAsync());

const GET = 'GET /api/open HTTP/1.1';
const HOST = 'Host: 127.0.0.1';

describe('plain HTTP', () => {
  it('TLS-5: plain_http: every request gets 400 with the error body', async () => {
    const lines = [GET, HOST, 'Authorization: Bearer canary-7f3a'];
    const answer = await sendBytes(gateway.http, head(...lines), { tls: false });
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      error: 'Bad Request',
      message: 'This address accepts only HTTPS. Send the request to the https URL.',
    });
    expect(answer.headers).toMatchObject({ connection: 'close', 'cache-control': 'no-store' });
    // TLS-6: never on plain HTTP.
    expect(answer.headers['strict-transport-security']).toBeUndefined();
    expect(answer.text).not.toContain('canary');
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'plain_http', status: 400, scheme: 'http' });
  });

  it('HEAD gets 400 without a body', async () => {
    const answer = await sendBytes(gateway.http, head('HEAD /api/open HTTP/1.1', HOST), { tls: false });
    expect(answer).toMatchObject({ status: 400, body: '' });
  });
});
