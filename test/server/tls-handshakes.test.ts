// The TLS listener: handshakes, names by SNI, and HTTP/1.1 beside HTTP/2.
import { connect as connectPlain } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { sessionForEachTest } from '../plane/http2-sessions.ts';
import { get, until } from '../plane/raw-sockets.ts';

const { defer, open } = sessionForEachTest();

function overTls(
  port: number,
  options: ConnectionOptions,
  text: string,
): Promise<{ answer: string; error: string }> {
  return new Promise((resolve) => {
    let answer = '';
    let error = '';
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () =>
      socket.write(text),
    );
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (/\r\n\r\n/.test(answer)) socket.end();
    });
    socket.on('error', (cause) => {
      error = cause.message;
    });
    socket.on('close', () => resolve({ answer, error }));
  });
}

describe('the TLS listener', () => {
  it('serves HTTP/1.1 on the port of HTTP/2', async () => {
    const { gateway } = await open();
    const { answer } = await overTls(gateway.port, { ALPNProtocols: ['http/1.1'] }, get());
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('SMG-6: answers a request without Host with 400 there too', async () => {
    const { gateway } = await open();
    const { answer } = await overTls(
      gateway.port,
      { ALPNProtocols: ['http/1.1'] },
      'GET /echo HTTP/1.1\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*x-request-id/s);
  });

  it('TLS-3: serves a configured name and no name, and refuses an unknown name', async () => {
    const { gateway } = await open();
    expect((await overTls(gateway.port, { servername: 'api.example.com' }, get())).answer).toContain(
      '200 OK',
    );
    expect((await overTls(gateway.port, {}, get())).answer).toContain('200 OK');
    expect((await overTls(gateway.port, { servername: 'evil.example' }, get())).answer).toBe('');
  });

  it('TLS-1: refuses versions before 1.2 and ciphers without forward secrecy', async () => {
    const { gateway } = await open();
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    expect((await overTls(gateway.port, old, get())).error).not.toBe('');
    const weak = { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA:AES256-GCM-SHA384' } as const;
    expect((await overTls(gateway.port, weak, get())).error).not.toBe('');
  });

  it('TLS-1: refuses renegotiation by a TLS 1.2 client', async () => {
    const { gateway } = await open();
    const socket = connectTls({
      port: gateway.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.2',
    });
    defer(async () => void socket.destroy());
    const failed = new Promise<boolean>((resolve) => {
      socket.on('error', () => resolve(true));
      socket.on('close', () => resolve(true));
      socket.once('secureConnect', () => {
        socket.renegotiate({}, (error) => resolve(error !== null));
      });
    });
    expect(await failed).toBe(true);
  });

  it('does not count a failed handshake as a request, and sends no response', async () => {
    const { gateway, session } = await open();
    session.destroy();
    const plain = await new Promise((resolve) => {
      let text = '';
      const socket = connectPlain(gateway.port, '127.0.0.1', () => socket.write(get()));
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    expect(plain).toBe('');
    await overTls(gateway.port, { servername: 'evil.example' }, get());
    await overTls(gateway.port, { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' }, get());
    await until(() => gateway.listener.connections() === 0);
    expect(gateway.outcomes).toEqual([]);
  });

  it('TLS-2: ends the handshake if the client offers no supported protocol', async () => {
    const { gateway } = await open();
    expect((await overTls(gateway.port, { ALPNProtocols: ['spdy/1'] }, get())).error).toMatch(
      /no application protocol/i,
    );
  });
});
