import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpsSettings } from '../../gateway/plan/settings.ts';
import { loadCertificates } from '../../gateway/server/certificates.ts';

const NOW = Temporal.Instant.from('2026-11-20T00:00:00Z').epochMilliseconds;
const DAY = 86_400_000;
const SELF_SIGNED: HttpsSettings = {
  address: { host: undefined, port: 0 },
  hstsSeconds: undefined,
  certificates: [],
  defaultName: undefined,
};

describe('certificates', () => {
  let dataFolder: string;
  beforeEach(async () => {
    dataFolder = join(await mkdtemp(join(tmpdir(), 'sundial-cert-')), 'data');
  });
  afterEach(() => rm(join(dataFolder, '..'), { recursive: true }));
  const load = (now = NOW, hosts: readonly string[] = ['API.example.com']) =>
    loadCertificates(SELF_SIGNED, { dataFolder, hosts, now });

  it('are made at first start for the loopback names and the hosts served, readable by the owner only', async () => {
    const made = await load();
    const cert = new X509Certificate(made.default.cert);
    expect(made.selfSigned).toBe(true);
    for (const name of ['localhost', 'api.example.com']) expect(cert.checkHost(name)).toBe(name);
    for (const ip of ['127.0.0.1', '::1']) expect(cert.checkIP(ip)).toBe(ip);
    expect(made.fingerprint).toMatch(/^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    expect((await stat(dataFolder)).mode & 0o777).toBe(0o700);
    for (const file of ['gateway.key', 'gateway.crt']) {
      expect((await stat(join(dataFolder, file))).mode & 0o777).toBe(0o600);
    }
  });

  it('are reused later, and renewed before they expire', async () => {
    const first = await load();
    expect((await load(NOW + 300 * DAY)).fingerprint).toBe(first.fingerprint);
    expect((await load(NOW + 397 * DAY)).fingerprint).not.toBe(first.fingerprint);
  });

  it('are made anew for a host they do not cover, an address among them', async () => {
    const first = await load();
    const hosts = ['api.example.com', 'beta.example.com', '192.0.2.7', '[fd00::7]'];
    const second = await load(NOW, hosts);
    expect(second.fingerprint).not.toBe(first.fingerprint);
    const cert = new X509Certificate(second.default.cert);
    for (const name of ['api.example.com', 'beta.example.com']) expect(cert.checkHost(name)).toBe(name);
    for (const ip of ['127.0.0.1', '192.0.2.7', 'fd00::7']) expect(cert.checkIP(ip)).toBe(ip);
    expect(second.pairs[0]?.names).toEqual(expect.arrayContaining(['localhost', 'beta.example.com']));
    expect((await load(NOW, hosts)).fingerprint).toBe(second.fingerprint);
  });

  it('are made anew when the file holds something else', async () => {
    const first = await load();
    await writeFile(join(dataFolder, 'gateway.crt'), 'not a certificate');
    expect((await load()).fingerprint).not.toBe(first.fingerprint);
  });

  it('come from the configured files where there are any', async () => {
    await load();
    const cert = join(dataFolder, 'gateway.crt');
    const key = join(dataFolder, 'gateway.key');
    const https = {
      ...SELF_SIGNED,
      certificates: [{ names: ['API.example.com'], cert, key }],
      defaultName: 'api.example.com',
    };
    const loaded = await loadCertificates(https, { dataFolder, hosts: ['x.example'], now: NOW });
    expect(loaded).toMatchObject({ selfSigned: false, pairs: [{ names: ['api.example.com'] }] });
    await expect(
      loadCertificates(
        { ...https, certificates: [{ names: [], cert: join(dataFolder, 'none'), key }] },
        { dataFolder, hosts: ['x.example'], now: NOW },
      ),
    ).rejects.toThrow('ENOENT');
  });
});
