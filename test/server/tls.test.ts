// TLS of the public listener with real handshakes: protocols and ciphers, certificates, renewal.
import { once } from 'node:events';
import { connect as connectHttp2, createSecureServer, type Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Certificates, certificatesOf, type KeyPair } from '../../gateway/server/certificates.ts';
import { createTlsTermination } from '../../gateway/server/tls-options.ts';
import { makeKeyPair } from '../support/key-pairs.ts';
import { fingerprintOf, type Shaken, shake } from '../support/tls-client.ts';

const DAY = 86_400_000;
const FIRST_NAME = { defaultName: undefined, refusesNameless: false };
const ALERT = {
  unrecognizedName: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
  handshakeFailure: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
  protocolVersion: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  noApplicationProtocol: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
};

interface Face extends AsyncDisposable {
  readonly port: number;
  readonly use: (certificates: Certificates) => void;
}

/** A server with the TLS options of the public listener. It responds with the certificate and the client. */
async function startFace(first: Certificates, now: () => number = Date.now): Promise<Face> {
  let current = first;
  const takers: ((certificates: Certificates) => void)[] = [];
  const tls = createTlsTermination(
    { current: () => current, onChange: (take) => void takers.push(take) },
    now,
  );
  const server: Http2SecureServer = createSecureServer(
    { ...tls.options, allowHTTP1: true },
    (request, response) => {
      const { own, client } = tls.shown(request.socket) ?? {};
      response.end([...(own?.names ?? []), ...(client === undefined ? [] : [client.commonName])].join(' '));
    },
  );
  tls.attach(server);
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => open.add(socket));
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    use: (certificates) => {
      current = certificates;
      for (const take of takers) take(certificates);
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

let ec: KeyPair;
let rsa: KeyPair;
const stack = new AsyncDisposableStack();
let face: Face;
const shaken: Shaken[] = [];

async function hello(options: ConnectionOptions, port = face.port): Promise<Shaken> {
  const result = await shake(port, options);
  shaken.push(result);
  return result;
}

beforeAll(async () => {
  ec = await makeKeyPair({ names: ['a.example'] });
  rsa = await makeKeyPair({ names: ['*.b.example', 'rsa.example'], kind: 'rsa' });
  face = stack.use(await startFace(certificatesOf([ec, rsa], FIRST_NAME)));
});
afterEach(() => {
  for (const { socket } of shaken.splice(0)) socket.destroy();
});
afterAll(() => stack.disposeAsync());

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('over %s', (version) => {
  const only = { minVersion: version, maxVersion: version } as const;

  it.each([
    ['a configured name', 'a.example', () => ec],
    ['a name in capitals', 'A.Example', () => ec],
    ['another name', 'rsa.example', () => rsa],
    ['a name that matches a wildcard', 'v1.b.example', () => rsa],
    ['a client without a name', '', () => ec],
  ])('TLS-3: %s gets its certificate', async (_title, servername, pair) => {
    const { error, fingerprint, protocol } = await hello({ ...only, servername });
    expect({ error, fingerprint, protocol }).toEqual({
      error: undefined,
      fingerprint: fingerprintOf(pair()),
      protocol: version,
    });
  });

  it.each(['c.example', 'b.example', 'x.v1.b.example', 'a.example.evil.example', 'xa.example'])(
    'TLS-3: %s gets unrecognized_name and no certificate',
    async (servername) => {
      const { error, fingerprint } = await hello({ ...only, servername });
      expect({ error, fingerprint }).toEqual({ error: ALERT.unrecognizedName, fingerprint: undefined });
    },
  );

  it('TLS-3: an unknown name gets unrecognized_name also after a HelloRetryRequest', async () => {
    const { error } = await hello({ ...only, servername: 'c.example', ecdhCurve: 'P-521:P-256' });
    expect(error).toBe(ALERT.unrecognizedName);
  });

  it.each([
    ['h2', ['h2', 'http/1.1'], 'h2'],
    ['http/1.1 if the client offers nothing else', ['http/1.1'], 'http/1.1'],
    ['no protocol if the client offers none', undefined, undefined],
  ])('TLS-2: ALPN selects %s', async (_title, protocols, chosen) => {
    const { error, alpn } = await hello({
      ...only,
      servername: 'a.example',
      ...(protocols && { ALPNProtocols: protocols }),
    });
    expect({ error, alpn }).toEqual({ error: undefined, alpn: chosen });
  });

  it('TLS-2: a client without a common protocol gets no_application_protocol', async () => {
    const { error } = await hello({
      ...only,
      servername: 'a.example',
      ALPNProtocols: ['spdy/3', 'http/1.0'],
    });
    expect(error).toBe(ALERT.noApplicationProtocol);
  });

  it('TLS-3: with `default: none` only a client with SNI is served', async () => {
    await using strict = await startFace(certificatesOf([ec], { ...FIRST_NAME, refusesNameless: true }));
    expect((await hello({ ...only }, strict.port)).error).toBe(ALERT.handshakeFailure);
    expect((await hello({ ...only, servername: 'a.example' }, strict.port)).error).toBeUndefined();
  });
});

describe('TLS-1: the server', () => {
  const weak = '@SECLEVEL=0';
  it.each(['TLSv1', 'TLSv1.1'] as const)('does not offer %s', async (version) => {
    const { error } = await hello({
      servername: 'rsa.example',
      minVersion: version,
      maxVersion: version,
      ciphers: `ALL${weak}`,
    });
    expect(error).toBe(ALERT.protocolVersion);
  });

  it.each([
    ['static RSA', 'rsa.example', 'AES128-GCM-SHA256'],
    ['static RSA', 'rsa.example', 'AES256-SHA'],
    ['CBC', 'rsa.example', 'ECDHE-RSA-AES128-SHA'],
    ['CBC', 'rsa.example', 'ECDHE-RSA-AES256-SHA384'],
    ['CBC', 'a.example', 'ECDHE-ECDSA-AES128-SHA256'],
    ['finite-field DHE', 'rsa.example', 'DHE-RSA-AES128-GCM-SHA256'],
    ['CCM with a short tag', 'a.example', 'ECDHE-ECDSA-AES128-CCM8'],
    ['no encryption', 'rsa.example', 'NULL-SHA256'],
    ['no authentication', 'rsa.example', 'ADH-AES128-GCM-SHA256'],
  ])('does not offer %s: %s with %s', async (_kind, servername, suite) => {
    const { error } = await hello({ servername, maxVersion: 'TLSv1.2', ciphers: suite + weak });
    expect(error).toBe(ALERT.handshakeFailure);
  });

  it.each([
    ['a.example', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
    ['a.example', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
    ['a.example', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
    ['rsa.example', 'ECDHE-RSA-AES128-GCM-SHA256'],
    ['rsa.example', 'ECDHE-RSA-AES256-GCM-SHA384'],
    ['rsa.example', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ])('offers for %s the cipher %s', async (servername, suite) => {
    const { error, socket } = await hello({ servername, maxVersion: 'TLSv1.2', ciphers: suite });
    expect(error).toBeUndefined();
    expect(socket.getCipher().name).toBe(suite);
  });

  it('refuses renegotiation', async () => {
    const { socket } = await hello({ servername: 'a.example', maxVersion: 'TLSv1.2' });
    const outcome = new Promise<Error | null>((resolve) => {
      socket.on('error', resolve);
      socket.renegotiate({ rejectUnauthorized: false }, resolve);
    });
    expect(await outcome).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' });
  });
});

/** A session to resume. TLS 1.3 delivers it after the handshake. */
async function sessionOf(options: ConnectionOptions, port?: number): Promise<Buffer> {
  const socket = (await hello(options, port)).socket;
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  if (socket.getProtocol() === 'TLSv1.3') return (await once(socket, 'session'))[0];
  return socket.getSession() ?? Buffer.alloc(0);
}

/** The complete response to one request. */
async function textOf(socket: TLSSocket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('sessions and renewal over %s', (version) => {
  const names = { minVersion: version, maxVersion: version, servername: 'rsa.example' } as const;
  const resumes = async (session: Buffer, port?: number) =>
    (await hello({ ...names, session }, port)).resumed;
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it('a session is resumed only for the name of its handshake', async () => {
    const session = await sessionOf(names);
    expect(await resumes(session)).toBe(true);
    expect((await hello({ ...names, servername: 'a.example', session })).resumed).toBe(false);
  });

  it('TLS-1: a session lasts at most a day, because the ticket keys change', async () => {
    await using own = await startFace(certificatesOf([ec, rsa], FIRST_NAME));
    const before = face;
    face = own;
    try {
      const session = await sessionOf(names);
      vi.advanceTimersByTime(DAY - 1);
      expect(await resumes(session)).toBe(true);
      vi.advanceTimersByTime(1);
      expect(await resumes(session)).toBe(false);
      expect(await resumes(await sessionOf(names))).toBe(true);
    } finally {
      face = before;
    }
  });
});

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('client certificates over %s', (version) => {
  it.each(['http/1.1', 'h2'])(
    'over %s, a resumed session keeps its client certificate and ends when that expires',
    async (alpn) => {
      const authority = await makeKeyPair({ names: ['one.ca'], authority: true });
      const { cert, key, expiry } = await makeKeyPair({ names: ['acme'], by: authority });
      const asking = { ...ec, clients: { authorities: authority.cert, required: true } };
      let now = Date.now();
      await using own = await startFace(certificatesOf([asking], FIRST_NAME), () => now);
      const only = { minVersion: version, maxVersion: version, servername: 'a.example' } as const;
      const session = await sessionOf({ ...only, cert, key }, own.port);
      /** The response, or the first bytes of HTTP/2. Empty if the connection was closed. */
      const resumed = async () => {
        const { socket, ...shaken } = await hello({ ...only, session, ALPNProtocols: [alpn] }, own.port);
        expect(shaken).toMatchObject({ resumed: true, alpn });
        const ended = once(socket, 'close').then(() => '');
        const answer = alpn === 'h2' ? once(socket, 'data').then(String) : textOf(socket);
        return Promise.race([answer.catch(() => ''), ended]);
      };
      expect(await resumed()).toMatch(alpn === 'h2' ? /./ : /a\.example acme$/);
      now = expiry;
      expect(await resumed()).toBe('');
    },
  );
});

describe('TLS-7: a renewed certificate', () => {
  it('applies to new connections at once, and open connections continue', async () => {
    await using own = await startFace(certificatesOf([ec, rsa], FIRST_NAME));
    const old = connectHttp2(`https://127.0.0.1:${own.port}`, {
      servername: 'rsa.example',
      rejectUnauthorized: false,
    });
    const ask = async (): Promise<string> => {
      const stream = old.request({ ':path': '/' });
      stream.setEncoding('utf8');
      let text = '';
      for await (const chunk of stream) text += chunk;
      return text;
    };
    expect(await ask()).toBe('*.b.example rsa.example');
    const renewed = await makeKeyPair({ names: ['rsa.example', 'c.example'] });
    const other = await makeKeyPair({ names: ['a.example'] });
    own.use(certificatesOf([other, renewed], FIRST_NAME));
    for (const [servername, pair] of [
      ['rsa.example', renewed],
      ['c.example', renewed],
      ['a.example', other],
      ['', other],
    ] as const)
      expect((await hello({ servername }, own.port)).fingerprint).toBe(fingerprintOf(pair));
    expect((await hello({ servername: 'x.b.example' }, own.port)).error).toBe(ALERT.unrecognizedName);
    // The connection keeps the certificate that it was opened with.
    expect(await ask()).toBe('*.b.example rsa.example');
    old.destroy();
  });

  it('ends the sessions of the previous certificate', async () => {
    await using own = await startFace(certificatesOf([ec], FIRST_NAME));
    const first = await hello({ servername: 'a.example', maxVersion: 'TLSv1.2' }, own.port);
    const session = first.socket.getSession();
    const renewed = await makeKeyPair({ names: ['a.example'] });
    own.use(certificatesOf([renewed], FIRST_NAME));
    const second = await hello({ servername: 'a.example', maxVersion: 'TLSv1.2', session }, own.port);
    expect(second).toMatchObject({ resumed: false, fingerprint: fingerprintOf(renewed) });
  });
});
