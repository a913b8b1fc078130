// Tests that the receiver's certificate is trusted beside another one for the same host.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { generate } from 'selfsigned';
import { afterAll, expect, it } from 'vitest';
import { loadPair } from '../../../upstreams/receiver/certificate.ts';

const folder = mkdtempSync(join(tmpdir(), 'sundial-certificate-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('keeps another self-signed certificate for localhost trusted', async () => {
  const { cert } = await loadPair(folder, Date.now());
  const own = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const server = createServer({ cert: own.cert, key: own.private }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, servername: 'localhost', ca: `${cert}\n${own.cert}` });
  await once(socket, 'secureConnect');
  expect(socket.authorized).toBe(true);
  socket.destroy();
  server.close();
});
