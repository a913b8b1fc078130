// Creates and stores the self-signed key pair that is used if no certificate is configured.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { covers } from '../plan/read/key-pair.ts';
import type { EpochMs } from '../policy/contract.ts';
import { makeFolder } from '../system/make-folder.ts';
import type { KeyPair } from './certificates.ts';
import { makeSelfSigned } from './self-signed-certificate.ts';

const DAY_MS = 86_400_000;
const LIFETIME_DAYS = 397;
/** Milliseconds before its end at which the certificate is renewed. */
export const RENEW_BEFORE_MS = DAY_MS;
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

export interface SelfSignedFiles {
  readonly cert: string;
  readonly key: string;
}

export function selfSignedFiles(dataFolder: string): SelfSignedFiles {
  return { cert: join(dataFolder, 'gateway.crt'), key: join(dataFolder, 'gateway.key') };
}

/**
 * Covers this machine's own names and `hosts`, where `{version}.` matches any first label. A new pair replaces one that
 * is missing, broken, lacks a name or ends within a day.
 */
export async function selfSignedPair(
  dataFolder: string,
  hosts: readonly string[],
  now: EpochMs,
): Promise<KeyPair> {
  const files = selfSignedFiles(dataFolder);
  const plain = hosts.map((host) =>
    host
      .toLowerCase()
      .replace(/^\[|\]$/g, '')
      .replace(/^\{version\}/, '*'),
  );
  const names = [...new Set([...LOOPBACK, ...plain])];
  const [cert, key] = await Promise.all([readIfThere(files.cert), readIfThere(files.key)]);
  const expiry = cert && key && usableUntil({ cert, key }, names, now);
  if (cert && key && expiry) return { names, cert, key, expiry };
  const made = await makePair(names, now);
  await makeFolder(dataFolder, { mode: 0o700 });
  await writePrivately(files.key, made.key);
  await writePrivately(files.cert, made.cert);
  return { names, ...made };
}

async function makePair(names: readonly string[], now: EpochMs): Promise<Omit<KeyPair, 'names'>> {
  const expiry = now + LIFETIME_DAYS * DAY_MS;
  const made = await makeSelfSigned('Sundial (self-signed)', names, { from: now - DAY_MS, until: expiry });
  return { ...made, expiry };
}

function usableUntil(
  { cert, key }: Pick<KeyPair, 'cert' | 'key'>,
  names: readonly string[],
  now: EpochMs,
): EpochMs | undefined {
  try {
    const parsed = new X509Certificate(cert);
    const expiry = parsed.validToDate.getTime();
    const inTime = parsed.validFromDate.getTime() <= now && expiry > now + RENEW_BEFORE_MS;
    const fits = parsed.checkPrivateKey(createPrivateKey(key));
    return inTime && fits && names.every((name) => covers(parsed, name)) ? expiry : undefined;
  } catch {
    // The files are not a certificate and its key, so a new pair replaces them.
    return undefined;
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

// Written to a temporary file and renamed, so that a crash leaves no partial key.
async function writePrivately(file: string, text: string): Promise<void> {
  const temporary = `${file}.new`;
  await writeFile(temporary, text, { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, file);
}
