// Whatever bytes a client sends, a request is one log line and adds no metric series.
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { head, sendBytes } from '../support/raw-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let issuer: TestIssuer;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (running) => running.close());
  gateway = stack.use(
    await runGateway({
      config: 'hostile-bytes/gateway.yaml',
      policies: 'hostile-bytes/policies',
      environment: { ECHO: echo.url, ISSUER: issuer.url },
    }),
  );
});
afterAll(() => stack.disposeAsync());

const FORGED = '{"log":"access","forged":true,"status":200}';
/** Characters that end a line for some reader or move the cursor of a terminal. */
const BREAKS = [
  '\n',
  '\r\n',
  '\r',
  '\u001b[2K\u001b[1A',
  '\u001b]0;x\u0007',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u0000',
];

const accessLines = () => gateway.log.filter(({ log }) => log === 'access');

/** Expects that each line of the log is a JSON object in printable ASCII. */
function expectWholeLog(): void {
  const text = gateway.logText();
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  const lines = text.trimEnd().split('\n');
  for (const line of lines) expect(JSON.parse(line)).not.toHaveProperty('forged');
  expect(lines).toHaveLength(gateway.log.length);
}

it.each(BREAKS.map((text) => [JSON.stringify(text), text] as const))(
  '%s in the path, query, agent, kid, subject or name does not end a log line',
  async (_name, text) => {
    const before = accessLines().length;
    const attack = `x${text}${FORGED}`;
    const encoded = encodeURIComponent(attack);
    // As Latin-1, the encoding of field values on the wire: one character for each octet of the UTF-8 form.
    const bytes = Buffer.from(attack.replaceAll(/\p{Cc}/gu, ' ')).toString('latin1');
    const tokens = [
      await issuer.sign({ scope: 'orders:read', sub: attack, client_id: attack, azp: attack }),
      await issuer.sign({ scope: 'orders:read' }, { kid: attack }),
      await issuer.sign({ scope: attack, iss: attack, aud: attack }),
    ];
    const fields = {
      'user-agent': bytes,
      referer: bytes,
      'x-request-id': bytes,
      traceparent: bytes,
      'api-version': bytes,
    };
    let asked = 0;
    for (const reach of [overHttp1, overHttp2]) {
      await using client = reach(gateway.https);
      const paths = [
        `/api/v1/orders/${encoded}`,
        `/${encoded}`,
        `/api/${encoded}/orders`,
        `/api/orders?version=${encoded}`,
      ];
      for (const path of paths) {
        await client.ask({ path, headers: { ...fields, authorization: `Bearer ${tokens[0]}` } });
        asked += 1;
      }
      for (const token of tokens) {
        await client.ask({ path: '/api/v1/orders', headers: { authorization: `Bearer ${token}` } });
        asked += 1;
      }
    }
    await vi.waitFor(() => expect(accessLines()).toHaveLength(before + asked), {
      timeout: 20_000,
      interval: 20,
    });
    expectWholeLog();
  },
);

it('raw bytes that no client library sends do not end a log line either', async () => {
  for (const byte of [
    '\u001b',
    '\u0000',
    '\u0007',
    '\u007f',
    '\u0085',
    '\u009b',
    '\u00e2\u0080\u00a8',
    '\u00ff',
  ]) {
    const close = ['Host: 127.0.0.1', 'Connection: close'];
    await sendBytes(gateway.https, head(`GET /a${byte}${FORGED} HTTP/1.1`, ...close));
    await sendBytes(gateway.https, head('GET / HTTP/1.1', ...close, `User-Agent: a${byte}${FORGED}`));
    await sendBytes(
      gateway.https,
      head('GET / HTTP/1.1', 'Host: 127.0.0.1', `Forwarded: for="${byte}"`, 'Connection: close'),
    );
  }
  expectWholeLog();
});

it('input of an operator does not end a log line either', async () => {
  await using admin = overHttp1(gateway.admin, { tls: false });
  const token = await gateway.adminToken();
  for (const text of BREAKS) {
    await admin.ask({
      method: 'POST',
      path: '/-/pauses',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        api: 'orders',
        for: '1h',
        by: `maria${text}${FORGED}`,
        why: `x${text}${FORGED}`,
      }),
    });
    await admin.ask({ path: `/-/pins/orders/${encodeURIComponent(`x${text}${FORGED}`)}` });
  }
  expectWholeLog();
});

/** Series of the gateway's own metrics, without values. */
async function series(): Promise<readonly string[]> {
  await using admin = overHttp1(gateway.admin, { tls: false });
  const { text } = await admin.ask({ path: '/metrics' });
  return text
    .split('\n')
    .filter((line) => line.startsWith('sundial_'))
    .map((line) => line.slice(0, line.lastIndexOf(' ')));
}

/** Sends many requests over a few connections. Returns how many got a response. */
async function ask(
  count: number,
  make: (random: string) => { method: string; path: string; headers: Record<string, string> },
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  let answered = 0;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const asked = make(randomBytes(9).toString('base64url'));
      const sent = request({ host: '127.0.0.1', port: gateway.http, agent, ...asked }, (response) => {
        response.resume().once('end', () => {
          answered += 1;
          resolve();
        });
      });
      sent.once('error', reject).end();
    });
  for (let left = count; left > 0; left -= 200)
    await Promise.all(Array.from({ length: Math.min(left, 200) }, one));
  agent.destroy();
  return answered;
}

it('ten thousand random paths, versions and names add no label value', async () => {
  const forms = [
    (random: string) => `/${random}`,
    (random: string) => `/api/v1/orders/${random}`,
    (random: string) => `/api/${random}/orders`,
    (random: string) => `/api/orders?version=${random}`,
    (random: string) => `/api/orders/${random}?q=${random}`,
  ];
  const methods = ['GET', 'POST', 'DELETE', 'PURGE', 'M-SEARCH'];
  let turn = 0;
  const make = (random: string) => {
    turn += 1;
    const path = forms[turn % forms.length]?.(random) ?? '/';
    const method = methods[Math.floor(turn / forms.length) % methods.length] ?? 'GET';
    const headers = {
      'user-agent': random,
      'x-tenant': random,
      'api-version': random,
      authorization: `Bearer ${random}`,
    };
    return { method, path, headers: turn % 3 === 0 ? {} : headers };
  };
  await ask(500, make);
  const early = await series();
  expect(await ask(10_000, make)).toBe(10_000);
  // A rare pair of method and status may be new. A label value may not.
  const words = (lines: readonly string[]) => new Set(lines.flatMap((line) => line.split(/[{}",=]+/)));
  expect(words(await series()).difference(words(early))).toEqual(new Set());
  expect((await series()).length).toBeLessThanOrEqual(early.length + 5);
  const requests = early.filter((each) => each.startsWith('sundial_requests_total'));
  // Two APIs (one is `none`), at most two versions each, the named methods, and the possible statuses.
  expect(requests.length).toBeLessThanOrEqual(2 * 2 * methods.length * 6);
  for (const each of early) expect(each.length).toBeLessThan(200);
});
