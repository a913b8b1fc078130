// The self-signed pair, and the choice among several pairs (TLS-3, TLS-4).
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coversHost } from '../../gateway/exchange/request-view.ts';
import { certificatesOf, type KeyPair } from '../../gateway/server/certificates.ts';
import { selfSignedPair } from '../../gateway/server/self-signed.ts';
import { makeKeyPair } from '../support/key-pairs.ts';
import { fingerprintOf } from '../support/tls-client.ts';

const NOW = Temporal.Instant.from('2026-11-20T00:00:00Z').epochMilliseconds;
const DAY = 86_400_000;

describe('the self-signed pair', () => {
  let dataFolder: string;
  beforeEach(async () => {
    dataFolder = join(await mkdtemp(join(tmpdir(), 'sundial-cert-')), 'data');
  });
  afterEach(() => rm(join(dataFolder, '..'), { recursive: true }));
  const load = (now = NOW, hosts: readonly string[] = ['API.example.com']) =>
    selfSignedPair(dataFolder, hosts, now);
  const certificate = ({ cert }: KeyPair) => new X509Certificate(cert);

  it('is created at the first start for loopback names and served hosts, for its owner only', async () => {
    const made = await load();
    const cert = certificate(made);
    for (const name of ['localhost', 'api.example.com']) expect(cert.checkHost(name)).toBe(name);
    for (const ip of ['127.0.0.1', '::1']) expect(cert.checkIP(ip)).toBe(ip);
    expect(made.expiry).toBe(cert.validToDate.getTime());
    expect((await stat(dataFolder)).mode & 0o777).toBe(0o700);
    for (const file of ['gateway.key', 'gateway.crt']) {
      expect((await stat(join(dataFolder, file))).mode & 0o777).toBe(0o600);
    }
  });

  it('is reused later, and renewed before it expires', async () => {
    const first = await load();
    expect((await load(NOW + 300 * DAY)).cert).toBe(first.cert);
    expect((await load(NOW + 397 * DAY)).cert).not.toBe(first.cert);
  });

  it('is created again for a host or address that it does not cover', async () => {
    const first = await load();
    const hosts = ['api.example.com', 'beta.example.com', '192.0.2.7', '[fd00::7]'];
    const second = await load(NOW, hosts);
    expect(second.cert).not.toBe(first.cert);
    const cert = certificate(second);
    for (const name of ['api.example.com', 'beta.example.com']) expect(cert.checkHost(name)).toBe(name);
    for (const ip of ['127.0.0.1', '192.0.2.7', 'fd00::7']) expect(cert.checkIP(ip)).toBe(ip);
    expect(second.names).toEqual(expect.arrayContaining(['localhost', 'beta.example.com']));
    expect((await load(NOW, hosts)).cert).toBe(second.cert);
  });

  it('covers every version of a host with the version in its name', async () => {
    const pair = await load(NOW, ['{version}.api.example.com']);
    expect(certificate(pair).checkHost('v2.api.example.com')).toBe('*.api.example.com');
    expect(coversHost(pair, 'v2.api.example.com')).toBe(true);
  });

  it.each([
    ['the certificate', 'gateway.crt', () => 'not a certificate'],
    ['the key', 'gateway.key', () => 'not a key'],
    ['another key', 'gateway.key', async () => (await makeKeyPair({ names: ['x.example'] })).key],
  ])('is created again if the file of %s has other content', async (_title, file, text) => {
    const first = await load();
    await writeFile(join(dataFolder, file), await text());
    const second = await load();
    expect(second.cert).not.toBe(first.cert);
    const [cert, key] = await Promise.all(
      ['gateway.crt', 'gateway.key'].map((each) => readFile(join(dataFolder, each), 'utf8')),
    );
    expect(second).toMatchObject({ cert, key });
  });
});

describe('several pairs', () => {
  const settings = { defaultName: undefined, refusesNameless: false };

  it('TLS-3: an exact name comes before a wildcard; the default is the first or the named pair', async () => {
    const wild = await makeKeyPair({ names: ['*.example.com'] });
    const exact = await makeKeyPair({ names: ['api.example.com', 'example.com'] });
    const { pairFor, default: first, fingerprint } = certificatesOf([wild, exact], settings);
    expect([pairFor('API.example.com'), pairFor('v1.example.com')]).toEqual([exact, wild]);
    expect([pairFor('example.com'), pairFor('x.y.example.com')]).toEqual([exact, undefined]);
    expect([first, pairFor(undefined), fingerprint]).toEqual([wild, wild, fingerprintOf(wild)]);
    const named = certificatesOf([wild, exact], { ...settings, defaultName: 'example.com' });
    expect([named.default, named.pairFor(undefined)]).toEqual([exact, exact]);
    const strict = certificatesOf([wild, exact], { ...settings, refusesNameless: true });
    expect([strict.default, strict.pairFor(undefined)]).toEqual([undefined, undefined]);
    expect(strict.fingerprint).toBe(fingerprintOf(wild));
  });

  it.each([
    [['api.example.com'], 'api.example.com', true],
    [['api.example.com'], 'v1.api.example.com', false],
    [['*.example.com'], 'api.example.com', true],
    [['*.example.com'], 'example.com', false],
    [['*.example.com'], 'v1.api.example.com', false],
    [['::1', '192.0.2.7'], '[::1]', true],
    [['::1', '192.0.2.7'], '192.0.2.7', true],
    [['::1', '192.0.2.7'], '192.0.2.8', false],
  ])('TLS-4: a certificate for %j covers %s: %s', (names, host, expected) => {
    expect(coversHost({ names }, host)).toBe(expected);
  });
});
