// Key pairs for the public face: read from configured files, or made at first start and kept in the data folder.
// Read once at start by gateway.ts; tls-options.ts turns the result into what Node's TLS wants.
import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { HttpsSettings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';

export interface KeyPair {
  /** Names a client may ask for by SNI; `*.` matches one label. */
  readonly names: readonly string[];
  readonly cert: string;
  readonly key: string;
}

export interface Certificates {
  readonly pairs: readonly KeyPair[];
  /** Presented when a client names no host. */
  readonly default: KeyPair;
  /** SHA-256 of the default certificate, hex with colons. */
  readonly fingerprint: string;
  readonly selfSigned: boolean;
}

const DAY_MS = 86_400_000;
const LIFETIME_DAYS = 397;
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/**
 * Loads the pairs of `https`, or the self-signed one of `dataFolder`, which is for this machine's own names and for
 * `hosts` and is made anew when it is missing, broken, lacks one of them or expires within a day. Rejects when a
 * configured file cannot be read or parsed.
 */
export async function loadCertificates(
  https: HttpsSettings,
  { dataFolder, hosts, now }: { dataFolder: string; hosts: readonly string[]; now: EpochMs },
): Promise<Certificates> {
  const pairs: KeyPair[] = await Promise.all(
    https.certificates.map(async ({ names, cert, key }) => ({
      names: names.map((name) => name.toLowerCase()),
      cert: await readFile(cert, 'utf8'),
      key: await readFile(key, 'utf8'),
    })),
  );
  const selfSigned = pairs.length === 0;
  if (selfSigned) pairs.push(await selfSignedPair(dataFolder, hosts, now));
  const chosen = pairs.find(
    ({ names }) => https.defaultName !== undefined && names.includes(https.defaultName),
  );
  const fallback = chosen ?? pairs[0];
  if (fallback === undefined) throw new Error('no certificate');
  const { fingerprint256 } = new X509Certificate(fallback.cert);
  return { pairs, default: fallback, fingerprint: fingerprint256, selfSigned };
}

async function selfSignedPair(dataFolder: string, hosts: readonly string[], now: EpochMs): Promise<KeyPair> {
  const certFile = join(dataFolder, 'gateway.crt');
  const keyFile = join(dataFolder, 'gateway.key');
  const plain = hosts.map((host) => host.toLowerCase().replace(/^\[|\]$/g, ''));
  const names = [...new Set([...LOOPBACK, ...plain])];
  const [cert, key] = await Promise.all([readIfThere(certFile), readIfThere(keyFile)]);
  if (cert !== undefined && key !== undefined && isUsable(cert, names, now)) return { names, cert, key };
  const made = await generate([{ name: 'commonName', value: 'Sundial (self-signed)' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + LIFETIME_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) =>
          isIP(name) === 0 ? { type: 2 as const, value: name } : { type: 7 as const, ip: name },
        ),
      },
    ],
  });
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  await writePrivately(keyFile, made.private);
  await writePrivately(certFile, made.cert);
  return { names, cert: made.cert, key: made.private };
}

function isUsable(cert: string, names: readonly string[], now: EpochMs): boolean {
  try {
    const parsed = new X509Certificate(cert);
    const inTime = parsed.validFromDate.getTime() <= now && parsed.validToDate.getTime() > now + DAY_MS;
    const covers = (name: string) => (isIP(name) === 0 ? parsed.checkHost(name) : parsed.checkIP(name));
    return inTime && names.every((name) => covers(name) !== undefined);
  } catch {
    // Not a certificate: a new one replaces it.
    return false;
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

// Written aside and renamed, so that a crash never leaves half a key.
async function writePrivately(file: string, text: string): Promise<void> {
  const aside = `${file}.new`;
  await writeFile(aside, text, { mode: 0o600 });
  await chmod(aside, 0o600);
  await rename(aside, file);
}
