// Tests of one delivery attempt, over TLS and real sockets.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createPlainServer } from 'node:net';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AttemptOptions, createAttempt } from '../../../upstreams/webhooks/attempt.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const never = new AbortController().signal;

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let connections = 0;
let ca = '';
let port = 0;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  ca = cert;
  const server = createServer({ cert, key }, (request, response) => answer(request, response));
  server.on('connection', () => {
    connections += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  port = (server.address() as AddressInfo).port;
});
afterAll(() => stack.disposeAsync());

function attempt(options: Partial<AttemptOptions> = {}) {
  const rules = { allow: [`localhost:${port}`], deny: [] };
  const run = createAttempt({ rules, ca: () => ca, timeoutMs: 5_000, now: () => NOW, ...options });
  return (url = `https://localhost:${port}/hooks?tenant=7`, signal = never) =>
    run({ url, headers: { 'webhook-id': 'evt_1' }, body: Buffer.from('{"id":"evt_1"}') }, signal);
}

const answerWith = (status: number, fields: Readonly<Record<string, string>> = {}) => {
  answer = (request, response) =>
    void request.resume().on('end', () => response.writeHead(status, fields).end());
};

describe('an attempt', () => {
  it('WH-3: posts the exact bytes, with their signature, to the path and query of the url', async () => {
    const heard = Promise.withResolvers<object>();
    answer = (request, response) => {
      const { method, url, headers } = request;
      void request.toArray().then((chunks: Buffer[]) => {
        heard.resolve({ method, url, headers, body: Buffer.concat(chunks).toString() });
        response.end();
      });
    };
    expect(await attempt()()).toMatchObject({ kind: 'delivered', status: 200 });
    expect(await heard.promise).toMatchObject({
      method: 'POST',
      url: '/hooks?tenant=7',
      body: '{"id":"evt_1"}',
      headers: { host: `localhost:${port}`, 'content-type': 'application/json', 'webhook-id': 'evt_1' },
    });
  });

  it.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [300, 'failed'],
    [301, 'failed'],
    [307, 'failed'],
    [401, 'failed'],
    [404, 'failed'],
    [410, 'gone'],
    [429, 'throttled'],
    [500, 'failed'],
    [502, 'throttled'],
    [503, 'throttled'],
    [504, 'throttled'],
  ])('WH-5: status %i means %s, and no redirect is followed', async (status, kind) => {
    answerWith(status, { location: `https://localhost:${port}/elsewhere` });
    const before = connections;
    expect(await attempt()()).toMatchObject({ kind, status, message: `Answered ${status}` });
    expect(connections - before).toBe(1);
  });

  it.each([
    ['120', 120_000],
    ['Fri, 20 Nov 2026 12:01:00 GMT', 60_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    // Longer than the limit: schedule.ts reduces it to a day.
    ['99999999999999999999', 1e23],
    ['soon', undefined],
    ['+10 GMT', undefined],
    ['-5', undefined],
    ['1e9', undefined],
  ])('WH-5: Retry-After: %s', async (written, retryAfterMs) => {
    answerWith(503, { 'retry-after': written });
    expect(await attempt()()).toMatchObject({ kind: 'throttled', retryAfterMs });
  });

  it('WH-5: ends with the status, and does not wait for the rest of the response', async () => {
    answer = (_, response) => void response.writeHead(200).write(Buffer.alloc(1024 * 1024));
    expect(await attempt({ timeoutMs: 600_000 })()).toMatchObject({ kind: 'delivered' });
  });

  it('WH-5: that gets no response fails after its time', async () => {
    answer = (request) => void request.resume();
    expect(await attempt({ timeoutMs: 200 })()).toMatchObject({
      kind: 'failed',
      message: 'No answer within 0.2 s',
    });
  });

  it('rejects when the service ends, and its result is unknown', async () => {
    const ending = new AbortController();
    answer = () => ending.abort(new Error('the service ends'));
    await expect(attempt()(undefined, ending.signal)).rejects.toThrow('the service ends');
    await expect(attempt()(undefined, ending.signal)).rejects.toThrow('the service ends');
  });

  it('WH-7: fails if the certificate is not trusted', async () => {
    answerWith(200);
    expect(await attempt({ ca: () => undefined })()).toMatchObject({
      kind: 'failed',
      message: 'The certificate is not trusted',
    });
  });

  it('reports a missing or non-HTTP receiver without details', async () => {
    const gone = createPlainServer((socket) => socket.resume().end('what?'));
    await once(gone.listen(0, '127.0.0.1'), 'listening');
    const other = (gone.address() as AddressInfo).port;
    const run = attempt({ rules: { allow: [`localhost:${other}`], deny: [] } });
    const messages = [(await run(`https://localhost:${other}/`)).message];
    await new Promise((resolve) => gone.close(resolve));
    messages.push((await run(`https://localhost:${other}/`)).message);
    expect(new Set(messages)).toEqual(new Set(['The connection failed or ended before a response']));
  });
});

describe('the host of an attempt', () => {
  it('WH-7: is not looked up if the url is not allowed', async () => {
    const looked: string[] = [];
    const resolve = async (host: string) => {
      looked.push(host);
      return [];
    };
    const outcome = await attempt({ resolve })('https://127.0.0.1/');
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: 'The url must have a host name, not an address',
    });
    expect(looked).toEqual([]);
  });

  it.each([
    ['this machine', [{ address: '127.0.0.1', family: 4 }]],
    [
      'a public address and this machine',
      ['93.184.215.14', '127.0.0.1'].map((address) => ({ address, family: 4 })),
    ],
    ['metadata as IPv6', [{ address: '::ffff:169.254.169.254', family: 6 }]],
    ['our own address', [{ address: '93.184.216.34', family: 4 }]],
    ['our own address in another spelling', [{ address: '2606:4700:0:0::1', family: 6 }]],
    ['nothing', []],
  ])('WH-7: is not called if its name resolves to %s', async (_, addresses) => {
    const rules = { allow: [], deny: ['93.184.216.34', '2606:4700::1'] };
    const run = attempt({ rules, resolve: async () => addresses });
    expect(await run('https://hooks.example.com/')).toMatchObject({
      kind: 'failed',
      message: 'The host does not have a public address',
    });
  });

  it('WH-7: is not trusted by the certificates of our own receivers', async () => {
    const asked: string[] = [];
    const ca = () => {
      asked.push('ca');
      return undefined;
    };
    await attempt({ ca, resolve: async () => [] })('https://hooks.example.com/');
    expect(asked).toEqual([]);
  });

  it('WH-7: is looked up again at every attempt', async () => {
    const looked: string[] = [];
    const resolve = async (host: string) => {
      looked.push(host);
      return [{ address: '10.0.0.7', family: 4 }];
    };
    const run = attempt({ resolve });
    await run('https://hooks.example.com/');
    await run('https://hooks.example.com/');
    expect(looked).toEqual(['hooks.example.com', 'hooks.example.com']);
  });
});
