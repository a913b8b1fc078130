// Requests with different X-Forwarded-For and Host on one connection: each is read by its own fields.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { forEachTest, type Pair, whenComplete } from './gateway-pair.ts';
import type { GatewayOptions } from './gateway-under-test.ts';
import { read, sessionForEachTest } from './http2-sessions.ts';
import { get, openRaw, sendRaw } from './raw-sockets.ts';

const { pair } = forEachTest();
const { open } = sessionForEachTest();

type Fields = Readonly<Record<string, string>>;
type Ask = (options: GatewayOptions, requests: readonly Fields[]) => Promise<Pair>;

const bytesOf = ({ host = 'api.example.com', ...fields }: Fields): string => {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return get('/echo', lines).replace('Host: api.example.com', `Host: ${host}`);
};

async function askOn(socket: Socket, requests: readonly Fields[]): Promise<void> {
  for (const request of requests) {
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write(bytesOf(request));
    await answered;
  }
  socket.destroy();
}

/** `host` is Host in HTTP/1.1 and `:authority` in HTTP/2. */
const TRANSPORTS: readonly (readonly [string, Ask])[] = [
  [
    'pipelined in HTTP/1.1',
    async (options, requests) => {
      const opened = await pair(undefined, options);
      await sendRaw(opened.gateway.port, requests.map(bytesOf).join(''), requests.length);
      return opened;
    },
  ],
  [
    'one after another in HTTP/1.1',
    async (options, requests) => {
      const opened = await pair(undefined, options);
      await askOn(connect(opened.gateway.port, '127.0.0.1'), requests);
      return opened;
    },
  ],
  [
    'as streams of HTTP/2',
    async (options, requests) => {
      const opened = await open(undefined, options);
      for (const { host = 'api.example.com', ...fields } of requests)
        await read(opened.session.request({ ':path': '/echo', ':authority': host, ...fields }).end());
      return opened;
    },
  ],
];

const CHAINS: readonly (readonly [line: string | undefined, client: string, network: string])[] = [
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['192.0.2.2', '192.0.2.2', '192.0.2.2'],
  ['192.0.2.2', '192.0.2.2', '192.0.2.2'],
  [undefined, '127.0.0.1', '127.0.0.1'],
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['192.0.2.1, 192.0.2.2', '192.0.2.2', '192.0.2.2'],
  ['192.0.2.1, 127.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['192.0.2.1, unknown', '127.0.0.1', '127.0.0.1'],
  ['2001:db8::1', '2001:db8::1', '2001:db8:0:0::/64'],
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
];
const asForwarded = CHAINS.map(([line]): Fields => (line === undefined ? {} : { 'x-forwarded-for': line }));

describe.each(TRANSPORTS)('on one connection, %s', (_transport, ask) => {
  it('XFF-2: each request of a trusted proxy has the client address of its own X-Forwarded-For', async () => {
    const { gateway, upstream } = await ask({ trustedProxies: ['127.0.0.1'] }, asForwarded);
    expect(gateway.views.map(({ clientAddress }) => clientAddress)).toEqual(
      CHAINS.map(([, , network]) => network),
    );
    expect(gateway.outcomes.map(({ clientAddress }) => clientAddress)).toEqual(
      CHAINS.map(([, client]) => client),
    );
    expect(upstream.requests.map(({ head }) => /\r\nx-forwarded-for: ([^,\r]+)/i.exec(head)?.[1])).toEqual(
      CHAINS.map(([, client]) => client),
    );
  });

  it('XFF-2: each request of a trusted proxy has the scheme of its own X-Forwarded-Proto', async () => {
    const schemes = ['https', 'http', 'https', 'http'];
    const { gateway } = await ask(
      { trustedProxies: ['127.0.0.1'] },
      schemes.map((scheme) => ({ 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': scheme })),
    );
    expect(gateway.views.map(({ scheme }) => scheme)).toEqual(schemes);
  });

  it('XFF-1: an untrusted client has its own address, not that of X-Forwarded-For', async () => {
    const { gateway } = await ask({ trustedProxies: ['192.0.2.0/24'] }, asForwarded);
    expect(gateway.views.map(({ clientAddress }) => clientAddress)).toEqual(CHAINS.map(() => '127.0.0.1'));
  });

  it('each request has the host of its own Host or :authority', async () => {
    const hosts = [
      'api.example.com',
      'evil.example.com',
      'api.example.com',
      'API.example.com:8443',
      'api.example.org',
      'api.example.com',
    ];
    const { gateway } = await ask(
      {},
      hosts.map((host) => ({ host })),
    );
    expect(gateway.views.map(({ host }) => host)).toEqual(
      hosts.map((host) => host.toLowerCase().replace(':8443', '')),
    );
    expect(gateway.outcomes.map(({ status }) => status)).toEqual([200, 421, 200, 200, 421, 200]);
  });

  it('SMG-6: an invalid host is refused after a request with a valid one', async () => {
    const { gateway } = await ask({}, [{ host: 'api.example.com' }, { host: '-api.example.com' }]);
    expect(gateway.outcomes.map(({ status }) => status)).toEqual([200, 400]);
  });
});

describe('TLS-4: the host is compared with the certificate', () => {
  const hosts = ['api.example.com', 'api.example.org', 'api.example.com', 'api.example.org'];
  const misdirected = [false, true, false, true];

  it('for each stream of an HTTP/2 connection', async () => {
    const { gateway, session } = await open();
    for (const host of hosts) await read(session.request({ ':path': '/echo', ':authority': host }).end());
    expect(gateway.views.map((view) => view.misdirected)).toEqual(misdirected);
  });

  it('for each request of an HTTP/1.1 connection', async () => {
    const { gateway } = await pair(undefined, { tls: true });
    const socket = connectTls({ host: '127.0.0.1', port: gateway.port, rejectUnauthorized: false });
    await askOn(
      socket,
      hosts.map((host) => ({ host })),
    );
    expect(gateway.views.map((view) => view.misdirected)).toEqual(misdirected);
  });
});

it('H2-1: Host and :authority are compared for each stream', async () => {
  const { gateway, session } = await open();
  const authority = { ':path': '/echo', ':authority': 'api.example.com' };
  for (const host of ['api.example.com', 'evil.example.com', 'api.example.com:443', 'evil.example.com'])
    await read(session.request({ ...authority, host }).end());
  expect(gateway.outcomes.map(({ status }) => status)).toEqual([200, 400, 200, 400]);
});

describe('FWD-20: a body that arrives with its head is complete, and the connection stays open', () => {
  it.each([1, 16_383, 16_384, 20_000, 40_000, 65_000, 200_000])('%i octets', async (length) => {
    const { upstream, gateway } = await pair(whenComplete, {}, whenComplete);
    const content = 'x'.repeat(length);
    const sized = get('/echo', [`Content-Length: ${length}`], 'POST', content);
    const chunks = `${length.toString(16)}\r\n${content}\r\n0\r\n\r\n`;
    const chunked = get('/echo', ['Transfer-Encoding: chunked'], 'POST', chunks);
    const { socket } = await openRaw(gateway.port);
    try {
      for (const bytes of [sized, chunked, sized, chunked, get()]) {
        const answered = once(socket, 'data');
        socket.write(bytes);
        expect(String(await answered)).toContain(' 200 ');
      }
    } finally {
      socket.destroy();
    }
    expect(upstream.requests.map(({ complete }) => complete)).toEqual(Array(5).fill(true));
  });
});
