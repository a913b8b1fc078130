// H2-3: nghttp2 drops HTTP/2 fields with control characters silently, as the table of docs/operate/tls.md says.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { converseInHttp2 } from '../wire/http2-client.ts';
import { request } from '../wire/http2-frames.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let authorization: string;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(await runGateway({ policies: 'http2-left-out', environment }));
  authorization = `Bearer ${await issuer.sign()}`;
});
afterAll(() => stack.disposeAsync());

async function ask(method: string, path: string, fields: readonly (readonly [string, string])[]) {
  const head = [
    [':method', method],
    [':scheme', 'https'],
    [':authority', '127.0.0.1'],
    [':path', path],
    ...fields,
  ] as const;
  const address = { host: '127.0.0.1', port: gateway.https, tls: true, serverName: '' };
  const { answers } = await converseInHttp2(address, { pieces: [request(head)], patienceMs: 20_000 });
  const [answer] = answers;
  return { status: answer?.status, text: answer?.body.toString() ?? '' };
}

const CONTROLS = ['\u0000', '\u0001', '\r', '\n', '\u001f', '\u007f'];

const LEFT_OUT: readonly (readonly [name: string, value: string])[] = [
  ['if-match', '"a"'],
  ['if-none-match', '"a"'],
  ['if-unmodified-since', 'Sat, 01 Jan 2000 00:00:00 GMT'],
  ['idempotency-key', '"a"'],
  ['content-encoding', 'gzip'],
  ['content-type', 'application/json'],
  ['range', 'bytes=0-1'],
  ['cookie', 'a=b'],
];
const PAGE = join(import.meta.dirname, '../../docs/operate/tls.md');

describe('H2-3: a field with a control character in its value', () => {
  it.each(LEFT_OUT)(
    '%s never reaches the service; the request is forwarded without it',
    async (name, value) => {
      for (const control of CONTROLS) {
        const { status, text } = await ask('PUT', '/api/v1/orders/7', [[name, value + control]]);
        expect([control, status]).toEqual([control, 200]);
        expect(text.toLowerCase()).not.toContain(`"${name}"`);
      }
      const whole = await ask('PUT', '/api/v1/orders/7', [[name, value]]);
      expect(whole.text.toLowerCase()).toContain(`"${name}"`);
    },
  );

  it('has a row in docs/operate/tls.md', async () => {
    const page = await readFile(PAGE, 'utf8');
    const [, section = ''] = page.split('## HTTP/2 fields that never arrive');
    const [rows = ''] = section.toLowerCase().split('\n## ');
    const names = [...LEFT_OUT.map(([name]) => name), 'authorization'];
    expect(names.filter((name) => !rows.includes(`\`${name}\``))).toEqual([]);
  });

  it.each([
    ['authorization', 'Bearer a'],
    ['x-api-key', 'a'],
  ])('%s counts as a missing credential: 401', async (name, value) => {
    for (const control of CONTROLS)
      expect((await ask('GET', '/api/v1/bills/7', [[name, value + control]])).status).toBe(401);
  });

  it('IDM-2: idempotency-key counts as missing: 400 if the operation requires it', async () => {
    for (const control of CONTROLS) {
      const fields = [
        ['authorization', authorization],
        ['idempotency-key', `"a${control}"`],
      ] as const;
      expect((await ask('POST', '/api/v1/bills', fields)).status).toBe(400);
    }
  });
});
