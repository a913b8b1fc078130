// Certificates renewed while the gateway runs: those that apply, those that do not, and the reports.
import { mkdir, mkdtemp, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { Certificates, KeyPair } from '../../gateway/server/certificates.ts';
import { openCertificates, type PublicCertificates } from '../../gateway/server/public-certificates.ts';
import type { CertificateReport } from '../../gateway/telemetry/reports/certificate-report.ts';
import { makeKeyPair } from '../support/key-pairs.ts';

const NOW = Date.parse('2026-11-20T00:00:00Z');
const DAY = 86_400_000;
/** A short interval, so that tests need not wait. Tests that call `reload` use NEVER. */
const AT_ONCE = 5;
const NEVER = 2 ** 31 - 1;

let folder: string;
let open: PublicCertificates | undefined;
let reports: { inForce: string[]; takenOver: string[]; kept: string[]; current: boolean };
let now: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-certs-'));
  reports = { inForce: [], takenOver: [], kept: [], current: true };
  now = NOW;
});
afterEach(async () => {
  await open?.close();
  open = undefined;
  await rm(folder, { recursive: true });
});

const report: CertificateReport = {
  onInForce: (pairs) => void reports.inForce.push(...pairs.flatMap(({ names }) => names)),
  onTakenOver: (pairs) => void reports.takenOver.push(...pairs.flatMap(({ names }) => names)),
  onKept: (names, reason) => void reports.kept.push(`${names.join(' ')} | ${(reason as Error).message}`),
  onState: (current) => {
    reports.current = current;
  },
};

const planFor = (...hosts: string[]): GatewayPlan => ({ apis: [{ hosts }] }) as unknown as GatewayPlan;

async function start(
  certificates: readonly { readonly names: readonly string[]; readonly cert: string; readonly key: string }[],
  checkEveryMs = NEVER,
  clientCertificates?: { readonly ca: string; readonly required: boolean },
): Promise<PublicCertificates> {
  open = await openCertificates(
    {
      public: 'https://api.example.com',
      dataFolder: join(folder, 'data'),
      listeners: {
        https: {
          address: { host: undefined, port: 0 },
          plane: 'fast',
          hstsSeconds: undefined,
          certificates,
          defaultName: undefined,
          refusesNameless: false,
          clientCertificates,
        },
        http: undefined,
        admin: undefined,
        metrics: undefined,
      },
    },
    planFor('api.example.com'),
    { now: () => now, report, checkEveryMs },
  );
  if (open === undefined) throw new Error('no certificates');
  return open;
}

/** Writes each file under a temporary name and renames it, the certificate first. */
async function place(pair: KeyPair, at = folder): Promise<void> {
  for (const [name, text] of [
    ['tls.crt', pair.cert],
    ['tls.key', pair.key],
  ] as const) {
    await writeFile(join(at, `${name}.new`), text);
    await rename(join(at, `${name}.new`), join(at, name));
  }
}

const filesOf = (names: readonly string[], at = folder) => ({
  names,
  cert: join(at, 'tls.crt'),
  key: join(at, 'tls.key'),
});
const shown = ({ current }: PublicCertificates) => current().pairs.map(({ cert }) => cert);

describe('TLS-7: a renewed pair', () => {
  it('applies without a reload once its files were replaced by renaming', async () => {
    const [old, next] = await Promise.all([1, 2].map(() => makeKeyPair({ names: ['a.example'] })));
    if (old === undefined || next === undefined) throw new Error('no pairs');
    await place(old);
    const certificates = await start([filesOf(['a.example'])], AT_ONCE);
    const changes: Certificates[] = [];
    certificates.onChange((taken) => void changes.push(taken));
    expect(reports.inForce).toEqual(['a.example']);
    await place(next);
    await vi.waitFor(() => expect(shown(certificates)).toEqual([next.cert]), { timeout: 20_000 });
    expect(changes.map(({ pairs }) => pairs[0]?.cert)).toEqual([next.cert]);
    expect(reports.takenOver).toEqual(['a.example']);
    await vi.waitFor(() => expect(reports.current).toBe(true), { timeout: 20_000 });
  });

  it('applies with new authorities of client certificates; a file without any is rejected', async () => {
    const [pair, old, next] = await Promise.all([1, 2, 3].map(() => makeKeyPair({ names: ['a.example'] })));
    if (pair === undefined || old === undefined || next === undefined) throw new Error('no pairs');
    await place(pair);
    const ca = join(folder, 'clients.pem');
    await writeFile(ca, old.cert);
    const certificates = await start([filesOf(['a.example'])], NEVER, { ca, required: true });
    const clients = () => certificates.current().pairs[0]?.clients;
    expect(clients()).toEqual({ authorities: old.cert, required: true });
    await writeFile(ca, next.cert + old.cert);
    await certificates.reload();
    expect(clients()?.authorities).toBe(`${next.cert}\n${old.cert}`);
    await writeFile(ca, 'nothing');
    await certificates.reload();
    expect(clients()?.authorities).toBe(`${next.cert}\n${old.cert}`);
    expect(reports.current).toBe(false);
  });

  it('applies if the symbolic link to its folder is replaced, as in Kubernetes secrets', async () => {
    const pairs = await Promise.all([1, 2].map(() => makeKeyPair({ names: ['a.example'] })));
    for (const [index, pair] of pairs.entries()) {
      await mkdir(join(folder, `..${index}`));
      await place(pair, join(folder, `..${index}`));
    }
    await symlink('..0', join(folder, '..data'));
    for (const file of ['tls.crt', 'tls.key']) await symlink(join('..data', file), join(folder, file));
    const certificates = await start([filesOf(['a.example'])], AT_ONCE);
    expect(shown(certificates)).toEqual([pairs[0]?.cert]);
    await symlink('..1', join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    await vi.waitFor(() => expect(shown(certificates)).toEqual([pairs[1]?.cert]), { timeout: 20_000 });
    expect(reports.kept).toEqual([]);
  });

  const NOT_A_PAIR = 'a.example | a.example: not a PEM certificate with its private key';
  it.each<[string, (next: KeyPair) => Promise<void>, string]>([
    ['incomplete', (next) => writeFile(join(folder, 'tls.crt'), next.cert.slice(0, 200)), NOT_A_PAIR],
    ['empty', () => writeFile(join(folder, 'tls.key'), ''), NOT_A_PAIR],
    ['of another key', (next) => writeFile(join(folder, 'tls.crt'), next.cert), NOT_A_PAIR],
    [
      'without its key',
      () => unlink(join(folder, 'tls.key')),
      'a.example | a.example: cannot read the key: no such file',
    ],
    [
      'for another name',
      async () => place(await makeKeyPair({ names: ['b.example'] })),
      'a.example | a.example: the certificate is not for a.example',
    ],
  ])(
    'that is %s is rejected with a report, and the previous pair stays until it is valid',
    async (_title, spoil, kept) => {
      const old = await makeKeyPair({ names: ['a.example'] });
      const next = await makeKeyPair({ names: ['a.example'] });
      await place(old);
      const certificates = await start([filesOf(['a.example'])]);
      await spoil(next);
      await certificates.reload();
      expect(shown(certificates)).toEqual([old.cert]);
      expect(reports).toMatchObject({ kept: [kept], current: false, takenOver: [] });
      expect(reports.kept.join()).not.toContain('PRIVATE');
      await place(next);
      await certificates.reload();
      expect(shown(certificates)).toEqual([next.cert]);
      expect(reports).toMatchObject({ current: true, takenOver: ['a.example'] });
    },
  );

  it('that is invalid is reported once and not at every check', async () => {
    await place(await makeKeyPair({ names: ['a.example'] }));
    await start([filesOf(['a.example'])], AT_ONCE);
    const report = vi.fn();
    open?.onChange(report);
    await writeFile(join(folder, 'tls.crt'), 'broken');
    await vi.waitFor(() => expect(reports.kept).toHaveLength(1), { timeout: 20_000 });
    const next = await makeKeyPair({ names: ['a.example'] });
    await place(next);
    await vi.waitFor(() => expect(report).toHaveBeenCalledOnce(), { timeout: 20_000 });
    // A check between the two renames may have seen the new certificate with the old key.
    expect(reports.kept.length).toBeLessThanOrEqual(2);
  });

  it('applies even if another pair is invalid', async () => {
    const b = join(folder, 'b');
    await mkdir(b);
    await place(await makeKeyPair({ names: ['a.example'] }));
    await place(await makeKeyPair({ names: ['b.example'] }), b);
    const certificates = await start([filesOf(['a.example']), filesOf(['b.example'], b)]);
    const [, before] = shown(certificates);
    await writeFile(join(b, 'tls.key'), 'broken');
    const next = await makeKeyPair({ names: ['a.example'] });
    await place(next);
    await certificates.reload();
    expect(shown(certificates)).toEqual([next.cert, before]);
    expect(reports).toMatchObject({ takenOver: ['a.example'], current: false });
  });

  it('with the same content is not reported', async () => {
    await place(await makeKeyPair({ names: ['a.example'] }));
    const certificates = await start([filesOf(['a.example'])]);
    await certificates.reload();
    expect(reports).toMatchObject({ takenOver: [], kept: [], current: true });
  });
});

describe('a start', () => {
  it('fails with an unusable pair', async () => {
    await place(await makeKeyPair({ names: ['b.example'] }));
    await expect(start([filesOf(['a.example'])])).rejects.toThrow('the certificate is not for a.example');
  });

  it('accepts names in any case', async () => {
    await place(await makeKeyPair({ names: ['a.example'] }));
    expect((await start([filesOf(['A.example'])])).current().pairs[0]?.names).toEqual(['a.example']);
  });
});

describe('the self-signed pair', () => {
  it('covers the hosts of a reload, and keeps the earlier ones', async () => {
    const certificates = await start([]);
    const [first] = shown(certificates);
    await certificates.follow(planFor('api.example.com'));
    expect(shown(certificates)).toEqual([first]);
    await certificates.follow(planFor('beta.example.com', '{version}.beta.example.com'));
    const { pairFor } = certificates.current();
    for (const name of ['api.example.com', 'beta.example.com', 'v2.beta.example.com'])
      expect(pairFor(name)?.cert).not.toBe(first);
    expect(pairFor('gamma.example.com')).toBeUndefined();
    expect(await readFile(join(folder, 'data/gateway.crt'), 'utf8')).toBe(shown(certificates)[0]);
  });

  it('is created again before it ends', async () => {
    const certificates = await start([], AT_ONCE);
    const [first] = shown(certificates);
    now = NOW + 396.5 * DAY;
    await vi.waitFor(() => expect(shown(certificates)).not.toEqual([first]), { timeout: 20_000 });
    expect(certificates.current().pairs[0]?.expiry).toBeGreaterThan(now + 300 * DAY);
  });
});
