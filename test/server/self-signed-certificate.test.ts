// The self-signed certificate as OpenSSL reads it.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { makeSelfSigned } from '../../gateway/server/self-signed-certificate.ts';

const FROM = Date.UTC(2026, 10, 20);
const UNTIL = Date.UTC(2027, 11, 22);

it('is signed with its own key, and is for a TLS server only', async () => {
  const { cert, key } = await makeSelfSigned('Sundial', ['localhost'], { from: FROM, until: UNTIL });
  const read = new X509Certificate(cert);
  expect(read.verify(read.publicKey)).toBe(true);
  expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect([read.subject, read.issuer, read.ca]).toEqual(['CN=Sundial', 'CN=Sundial', false]);
  expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect([read.validFromDate.getTime(), read.validToDate.getTime()]).toEqual([FROM, UNTIL]);
});

it('covers all its hosts, wildcards and addresses', async () => {
  const hosts = ['localhost', '*.api.example.com'];
  const addresses = ['127.0.0.1', '::1', '2001:DB8::a:1', '::ffff:192.0.2.1', '1:2:3:4:5:6:7:8'];
  const { cert } = await makeSelfSigned('Sundial', [...hosts, ...addresses], { from: FROM, until: UNTIL });
  const read = new X509Certificate(cert);
  expect([read.checkHost('localhost'), read.checkHost('v1.api.example.com')]).toEqual(hosts);
  for (const address of addresses) expect(read.checkIP(address), address).toBeDefined();
  expect([read.checkHost('other.example.com'), read.checkIP('192.0.2.2')]).toEqual([undefined, undefined]);
});

it('can have thousands of names and expire after 2049', async () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `host-${at}.example.com`);
  const until = Date.UTC(2051, 0, 1);
  const read = new X509Certificate((await makeSelfSigned('Sundial', names, { from: FROM, until })).cert);
  expect(read.checkHost('host-4999.example.com')).toBe('host-4999.example.com');
  expect(read.validToDate.getTime()).toBe(until);
});
