// A policy's rules for connections to a service: limits, sizes, fields, TLS, and events without delay.
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { expectNothingOfTheCause } from '../support/inside.ts';
import { makeKeyPair } from '../support/key-pairs.ts';
import { head, openSocket, sendBytes } from '../support/raw-client.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
const WRITTEN = join(import.meta.dirname, 'upstream-connections');
// Closes its connections, because it does not look for the end of a body.
const OK = 'HTTP/1.1 200 OK\r\nX-Inside: 1\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';

let gateway: RunningGateway;
let narrow: RawUpstream;
let policies: string;
let secure: Awaited<ReturnType<typeof startSecure>>;
let h1: Client;
let h2: Client;

/** Accepts HTTP/2 over TLS with a client certificate, and responds with the name in it. */
async function startSecure(pair: { readonly cert: string; readonly key: string }, ca: readonly string[]) {
  const server = createSecureServer({ ...pair, ca: [...ca], requestCert: true, rejectUnauthorized: true });
  server.on('stream', (opened) => {
    const stream = opened as ServerHttp2Stream;
    const { subject } = (stream.session?.socket as TLSSocket | undefined)?.getPeerCertificate() ?? {};
    stream.respond({ ':status': 200 });
    stream.end(String(subject?.CN));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  return {
    url: `https://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

const first = await makeKeyPair({ names: ['first.internal'] });
const second = await makeKeyPair({ names: ['second.internal'] });

async function showCertificate({
  cert,
  key,
}: {
  readonly cert: string;
  readonly key: string;
}): Promise<void> {
  await writeFile(join(policies, 'client.pem'), cert);
  await writeFile(join(policies, 'client.key'), key, { mode: 0o600 });
}

beforeAll(async () => {
  policies = await mkdtemp(join(tmpdir(), 'sundial-connections-'));
  stack.defer(() => rm(policies, { recursive: true, force: true }));
  narrow = stack.use(
    await startRawUpstream((target, socket) => {
      if (target.includes('hold')) return;
      if (target.includes('events'))
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nd\r\ndata: first\n\n\r\n',
        );
      else socket.write(OK);
    }),
  );
  const server = await makeKeyPair({ names: ['orders.internal'] });
  secure = await startSecure(server, [first.cert, second.cert]);
  for (const file of ['narrow.yaml', 'secure.yaml'])
    await copyFile(join(WRITTEN, file), join(policies, file));
  await writeFile(join(policies, 'ca.pem'), server.cert);
  await showCertificate(first);
  stack.use(secure);
  gateway = stack.use(
    await runGateway({
      policies,
      environment: { NARROW: narrow.url, SECURE: secure.url, TENANT: 'acme-secret' },
    }),
  );
  h1 = stack.use(overHttp1(gateway.https));
  h2 = stack.use(overHttp2(gateway.https));
});
afterAll(() => stack.disposeAsync());

const heads = (path: string): readonly string[] =>
  narrow.connections.flatMap(({ received }) =>
    received.split('\r\n\r\n').filter((each) => each.includes(` ${path} HTTP/1.1`)),
  );

describe('the request limit of a target', () => {
  it('FWD-18: upstream_busy is 503 with Retry-After, and the upstream gets nothing', async () => {
    const held = [h2.begin({ path: '/api/v1/narrow/hold/1' })];
    await vi.waitFor(() => expect(narrow.count('/narrow/hold/1')).toBe(1), { timeout: 20_000 });
    held.push(h2.begin({ path: '/api/v1/narrow/hold/2' }));
    const answer = await vi.waitFor(
      async () => {
        const asked = await h2.ask({ path: '/api/v1/narrow/3' });
        expect(asked.status).toBe(503);
        return asked;
      },
      { timeout: 20_000 },
    );
    expect(answer.json).toMatchObject({
      error: 'Service Unavailable',
      message: 'The narrow-v1 service has reached its request limit.',
      retryAfter: 1,
    });
    expect(answer.headers).toMatchObject({
      'retry-after': '1',
      'proxy-status': 'sundial; error=connection_limit_reached; next-hop=narrow-v1',
      'cache-control': 'no-store',
    });
    expectNothingOfTheCause(answer);
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ fault: 'upstream_busy', status: 503 });
    expect(narrow.count('/narrow/hold/2')).toBe(0);
    for (const each of held) each.leave();
    await vi.waitFor(async () => expect((await h2.ask({ path: '/api/v1/narrow/4' })).status).toBe(200), {
      timeout: 20_000,
    });
  });
});

describe('body_too_large', () => {
  it.each([
    ['/api/v1/narrow', 100],
    ['/api/v2/narrow', 200],
    ['/api/v2/narrow/uploads', 300],
  ])('SMG-24: %s accepts %d bytes at most', async (path, most) => {
    for (const client of [h1, h2]) {
      const whole = await client.ask({ path, method: 'POST', body: 'x'.repeat(most) });
      expect(whole.status).toBe(200);
      const answer = await client.ask({ path, method: 'POST', body: 'x'.repeat(most + 1) });
      expect(answer).toMatchObject({
        status: 413,
        json: {
          error: 'Content Too Large',
          message: `The body is larger than ${most} bytes, the limit of this resource.`,
        },
        headers: { 'proxy-status': 'sundial; error=http_request_error', 'cache-control': 'no-store' },
      });
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'body_too_large' });
    }
  });

  it('SMG-24: a body without a length gets 413 once it is too long', async () => {
    for (const client of [h1, h2]) {
      const body = Readable.from(['x'.repeat(90), 'x'.repeat(90)]);
      const answer = await client.ask({ path: '/api/v1/narrow/grown', method: 'POST', body });
      expect([answer.status, answer.json.error]).toEqual([413, 'Content Too Large']);
    }
  });

  it('FWD-10: a request with Expect gets 413 before it sends its body', async () => {
    const { text } = await sendBytes(
      gateway.https,
      head(
        'POST /api/v1/narrow/expecting HTTP/1.1',
        'Host: 127.0.0.1',
        'Content-Length: 101',
        'Expect: 100-continue',
      ),
    );
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(narrow.count('/narrow/expecting')).toBe(0);
  });
});

describe('fields that the policy changes', () => {
  it('are set and removed in both directions; secret values are not logged', async () => {
    const headers = { 'X-Tenant': 'evil', 'X-Debug': '1', 'X-Plain': 'evil' };
    const answer = await h1.ask({ path: '/api/v1/narrow/fields', headers });
    const [sent = ''] = heads('/narrow/fields');
    expect(sent).toMatch(/\r\nx-tenant: acme-secret(\r\n|$)/);
    expect(sent).toMatch(/\r\nx-plain: lower case(\r\n|$)/);
    expect(sent).toMatch(/\r\nhost: narrow\.internal(\r\n|$)/);
    expect(sent).not.toMatch(/evil|x-debug/i);
    expect(answer.headers).toMatchObject({ 'x-frame-options': 'DENY' });
    expect(answer.headers).not.toHaveProperty('x-inside');
    expect(JSON.stringify(gateway.log)).not.toContain('acme-secret');
  });

  it('are not part of responses of the gateway itself', async () => {
    const answer = await h1.ask({ path: '/api/v9/narrow' });
    expect(answer.status).toBe(404);
    expect(answer.headers).not.toHaveProperty('x-frame-options');
  });
});

describe('an event stream', () => {
  it('reaches the client event by event', async () => {
    const socket = openSocket(gateway.https);
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
    socket.write(head('GET /api/v2/narrow/events HTTP/1.1', 'Host: 127.0.0.1'));
    await vi.waitFor(() => expect(received).toContain('data: first\n\n'), { timeout: 20_000 });
    // The second is sent only after the first has arrived.
    const upstream = narrow.connections.find((each) => each.received.includes('/narrow/events'))?.socket;
    upstream?.write('e\r\ndata: second\n\n\r\n0\r\n\r\n');
    await vi.waitFor(() => expect(received).toContain('data: second\n\n'), { timeout: 20_000 });
    socket.destroy();
  });
});

describe('TLS of an upstream', () => {
  it('is configured by the policy, and follows its files when they change', async () => {
    expect(await h1.ask({ path: '/api/secure' })).toMatchObject({ status: 200, text: 'first.internal' });
    await showCertificate(second);
    await vi.waitFor(
      async () => expect((await h1.ask({ path: '/api/secure' })).text).toBe('second.internal'),
      { timeout: 20_000, interval: 50 },
    );
  });

  it('stays the same if a new certificate and its key do not match', async () => {
    await showCertificate({ cert: first.cert, key: second.key });
    // A reload of its own, because the file watcher may have read the files between the two writes.
    const outcome = await gateway.reload();
    expect(outcome.kind).toBe('rejected');
    expect(outcome.problems).toMatchObject([
      { rule: 'tls', line: 10, message: 'not a PEM certificate with its private key' },
    ]);
    expect(JSON.stringify(gateway.log)).not.toContain('PRIVATE KEY');
    expect((await h1.ask({ path: '/api/secure' })).status).toBe(200);
  });
});
