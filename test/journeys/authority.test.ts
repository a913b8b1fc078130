// The certificate of a connection decides its hosts, whatever a request says, over both protocols.
import { once } from 'node:events';
import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Received } from '../../upstreams/echo/received.ts';
import { authorityGateway } from '../support/authority-gateway.ts';
import type { CertificateFolder } from '../support/certificate-folder.ts';
import type { RunningGateway } from '../support/gateway.ts';
import { askNamed, type NamedAsk } from '../support/named-client.ts';
import { fingerprintOf, shake } from '../support/tls-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let certificates: CertificateFolder;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  ({ gateway, certificates } = stack.use(await authorityGateway({ ECHO: echo.url, FORWARDED: 'rfc7239' })));
});
afterAll(() => stack.disposeAsync());

const PATH = '/api/v1/orders/7';
const ask = (protocol: 'HTTP/1.1' | 'HTTP/2', given: Omit<NamedAsk, 'path'> & { path?: string }) =>
  askNamed(gateway.https, protocol, { path: PATH, ...given });

describe.each(['HTTP/1.1', 'HTTP/2'] as const)('TLS-4 over %s:', (protocol) => {
  it.each<[string, Omit<NamedAsk, 'path'>]>([
    ['the host of the handshake', { servername: 'a.example', host: 'a.example' }],
    ['the host of the handshake, with a port', { servername: 'a.example', host: 'A.example:8443' }],
    ['another host of the same certificate', { servername: 'a.example', host: 'v1.a.example' }],
    ['the host of a wildcard certificate', { servername: 'v9.a.example', host: 'a.example' }],
    ['the second certificate', { servername: 'b.example', host: 'b.example' }],
    ['no name in the handshake, and a host of the default certificate', { host: 'a.example' }],
    [
      'a trusted proxy, which may send any served host',
      { servername: 'a.example', host: 'b.example', from: '127.0.0.2' },
    ],
  ])('a request gets 200: %s', async (_title, given) => {
    expect((await ask(protocol, given)).status).toBe(200);
  });

  it.each<[string, Omit<NamedAsk, 'path'>, string]>([
    ['a host of another certificate', { servername: 'a.example', host: 'b.example' }, 'misdirected'],
    ['a.example on a connection of b.example', { servername: 'b.example', host: 'a.example' }, 'misdirected'],
    ['no name in the handshake, and a host of another certificate', { host: 'b.example' }, 'misdirected'],
    ['an unknown host', { servername: 'a.example', host: 'c.example' }, 'host_unknown'],
    [
      'a host that the certificate covers but no API serves',
      { servername: 'a.example', host: 'www.a.example' },
      'host_unknown',
    ],
    [
      'an unknown host from a trusted proxy',
      { servername: 'a.example', host: 'c.example', from: '127.0.0.2' },
      'host_unknown',
    ],
  ])('a request gets 421: %s', async (_title, given, refusal) => {
    const answer = await ask(protocol, given);
    expect(answer.status).toBe(421);
    expect(JSON.parse(answer.text).error).toBe('Misdirected Request');
    expect(answer.valuesOf('cache-control')).toEqual(['no-store']);
    expect(await gateway.accessLine(answer.valuesOf('x-request-id')[0])).toMatchObject({ refusal });
  });

  it('published pages get 421 for a wrong host too', async () => {
    const given = { servername: 'b.example', host: 'a.example', path: '/.well-known/api-catalog' };
    expect((await ask(protocol, given)).status).toBe(421);
  });
});

it('TLS-4, H2-1: a coalesced request for a wrong host gets 421; the connection stays open', async () => {
  const session = connect(`https://127.0.0.1:${gateway.https}`, {
    servername: 'a.example',
    rejectUnauthorized: false,
  });
  const statuses: unknown[] = [];
  for (const host of ['a.example', 'b.example', 'v1.a.example', 'b.example', 'a.example']) {
    const stream = session.request({ ':path': PATH, ':authority': host });
    const [head] = await once(stream.resume(), 'response');
    statuses.push(head[':status']);
  }
  session.destroy();
  expect(statuses).toEqual([200, 421, 200, 421, 200]);
});

describe('TLS-4, SMG-7: an absolute target', () => {
  it.each<[string, string, string, number]>([
    ['decides instead of Host', 'https://a.example/api/v1/orders/7', 'b.example', 200],
    ['gets 421 for a host of another certificate', 'https://b.example/api/v1/orders/7', 'a.example', 421],
    ['gets 421 for an unknown host', 'https://c.example/api/v1/orders/7', 'a.example', 421],
    ['with http, gets 421 for another certificate', 'http://b.example/api/v1/orders/7', 'a.example', 421],
  ])('%s', async (_title, path, host, status) => {
    expect((await ask('HTTP/1.1', { servername: 'a.example', host, path })).status).toBe(status);
  });
});

describe('TLS-6: Strict-Transport-Security is one line', () => {
  it.each<[string, number, Omit<NamedAsk, 'path'> & { path?: string }]>([
    [
      'a request whose upstream sends its own',
      200,
      {
        servername: 'a.example',
        host: 'a.example',
        path: `${PATH}?header=strict-transport-security:max-age%3D1`,
      },
    ],
    ['a path without an API', 404, { servername: 'a.example', host: 'a.example', path: '/nothing' }],
    ['an unknown version', 404, { servername: 'a.example', host: 'a.example', path: '/api/v7/orders' }],
    ['another host', 421, { servername: 'a.example', host: 'b.example' }],
    ['an invalid path', 400, { servername: 'a.example', host: 'a.example', path: '/a/../b' }],
  ])('on a response to %s', async (_title, status, given) => {
    for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
      const answer = await ask(protocol, given);
      expect(answer.status).toBe(status);
      expect(answer.valuesOf('strict-transport-security')).toEqual(['max-age=86400']);
    }
  });
});

describe('XFF: an upstream gets the real address of the client', () => {
  const claims = {
    'x-forwarded-for': '192.0.2.66, 198.51.100.7',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'shop.example',
    'x-forwarded-port': '1',
    'x-forwarded': 'for=192.0.2.66',
    forwarded: 'for=192.0.2.66;host=evil.example',
    'x-real-ip': '192.0.2.66',
    'true-client-ip': '192.0.2.66',
    'x-client-ip': '192.0.2.66',
    'x-cluster-client-ip': '192.0.2.66',
    'client-cert': ':Zm9yZ2Vk:',
    'client-cert-chain': ':Zm9yZ2Vk:',
    'x-client-cert-subject': 'forged',
    'x-ssl-client-verify': 'forged',
    'x-user-id': 'forged',
    'x-client-id': 'forged',
    'x-scopes': 'forged',
    'x-original-url': '/forged',
    'x-rewrite-url': '/forged',
  };
  const forged = Object.keys(claims).filter(
    (name) => !/^(x-forwarded-(for|proto|host)|forwarded)$/.test(name),
  );

  it.each<['HTTP/1.1' | 'HTTP/2', string, Readonly<Record<string, string>>]>(
    (['HTTP/1.1', 'HTTP/2'] as const).flatMap((protocol) => [
      [
        protocol,
        '127.0.0.1',
        {
          'x-forwarded-for': '127.0.0.1',
          'x-forwarded-proto': 'https',
          'x-forwarded-host': 'a.example',
          forwarded: 'for=127.0.0.1;proto=https;host=a.example;by=_sundial',
        },
      ],
      [
        protocol,
        '127.0.0.2',
        {
          'x-forwarded-for': '198.51.100.7, 127.0.0.2',
          'x-forwarded-proto': 'http',
          'x-forwarded-host': 'shop.example',
          forwarded: 'for=198.51.100.7;proto=http;host=shop.example, for=127.0.0.2;by=_sundial',
        },
      ],
    ]),
  )('XFF-1, XFF-2, XFF-3, XFF-4: over %s from %s', async (protocol, from, told) => {
    const answer = await ask(protocol, { servername: 'a.example', host: 'a.example', headers: claims, from });
    const { headers } = JSON.parse(answer.text) as Received;
    const valuesOf = (name: string) =>
      headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
    for (const [name, value] of Object.entries(told)) expect(valuesOf(name)).toEqual([value]);
    for (const name of forged) expect(valuesOf(name), name).toEqual([]);
    for (const [name] of answer.lines) expect(name).not.toMatch(/^(?:x-forwarded|forwarded)/);
  });
});

it('TLS-7: a reload serves a renewed certificate, refuses a broken one, and logs both', async () => {
  const shown = async () => {
    const { fingerprint, socket } = await shake(gateway.https, { servername: 'b.example' });
    socket.destroy();
    return fingerprint;
  };
  const old = connect(`https://127.0.0.1:${gateway.https}`, {
    servername: 'b.example',
    rejectUnauthorized: false,
  });
  await once(old, 'connect');
  const renewed = await certificates.place('b', ['b.example']);
  await gateway.reload();
  expect(await shown()).toBe(fingerprintOf(renewed));
  expect(gateway.log).toContainEqual(
    expect.objectContaining({ message: 'a new certificate is in use', names: 'b.example' }),
  );
  const expiry = 'sundial_tls_certificate_expiry_timestamp_seconds{sni="b.example"}';
  expect(await gateway.metric(expiry)).toBe(renewed.expiry / 1_000);

  await certificates.place('b', ['x.example']);
  await gateway.reload();
  expect(await shown()).toBe(fingerprintOf(renewed));
  expect(await gateway.metric('sundial_tls_certificates_current')).toBe(0);
  expect(gateway.log).toContainEqual(
    expect.objectContaining({
      message: 'a new certificate was refused; the certificate in use stays',
      names: 'b.example',
    }),
  );

  await certificates.place('b', ['b.example']);
  await gateway.reload();
  expect(await gateway.metric('sundial_tls_certificates_current')).toBe(1);
  // The connection from before the changes.
  const stream = old.request({ ':path': PATH, ':authority': 'b.example' });
  const [head] = await once(stream.resume(), 'response');
  expect(head[':status']).toBe(200);
  old.destroy();
});
