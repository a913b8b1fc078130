// Reads a certificate with its key and checks that they match each other and their names.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { EpochMs } from '../../policy/contract.ts';
import { type ReadFile, tryRead } from './files.ts';

export interface PairFiles {
  /** Host names in lower case. `*.` stands for one label. */
  readonly names: readonly string[];
  readonly cert: string;
  readonly key: string;
}

export interface PairFinding {
  readonly at: 'names' | 'cert' | 'key';
  readonly severity?: 'warning';
  readonly message: string;
  readonly hint?: string;
}

export type PairRead =
  | { readonly kind: 'read'; readonly cert: string; readonly key: string; readonly expiry: EpochMs }
  | { readonly kind: 'unusable'; readonly finding: PairFinding };

const CERTIFICATE = '-----BEGIN CERTIFICATE-----';
/** The formats of OpenSSL, current and old. */
const ENCRYPTED = /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m;
const WORLD_READABLE = 0o004;
/** Stands for any label that a wildcard covers. */
const ANY_LABEL = 'any-label';

/** Reads the pair. A finding says why it is unusable for its names, and never quotes the key. */
export async function readPair(files: PairFiles, readFile: ReadFile): Promise<PairRead> {
  const unusable = (at: PairFinding['at'], message: string, hint?: string): PairRead => ({
    kind: 'unusable',
    finding: { at, message, ...(hint !== undefined && { hint }) },
  });
  const cert = await tryRead(files.cert, readFile);
  if (cert.kind === 'unreadable') return unusable('cert', `cannot read the certificate: ${cert.why}`);
  const key = await tryRead(files.key, readFile);
  if (key.kind === 'unreadable') return unusable('key', `cannot read the key: ${key.why}`);
  const pair = {
    cert: Buffer.from(cert.bytes).toString('latin1'),
    key: Buffer.from(key.bytes).toString('latin1'),
  };
  if (!isMatchingPair(pair))
    return unusable('cert', 'not a PEM certificate with its private key', adviceFor(pair));
  const certificate = new X509Certificate(pair.cert);
  const missing = files.names.find((name) => !covers(certificate, name));
  if (missing !== undefined) return unusable('names', `the certificate is not for ${missing}`);
  return { kind: 'read', ...pair, expiry: certificate.validToDate.getTime() };
}

export async function pairWarnings(
  { key }: PairFiles,
  { cert }: { readonly cert: string },
  now: EpochMs,
): Promise<readonly PairFinding[]> {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const found: PairFinding[] = [];
  const warn = (at: PairFinding['at'], message: string, hint: string) =>
    found.push({ at, severity: 'warning', message, hint });
  if (validToDate.getTime() <= now) {
    warn('cert', `the certificate expired at ${validToDate.toISOString()}`, 'clients refuse it: renew it');
  } else if (validFromDate.getTime() > now) {
    warn(
      'cert',
      `the certificate is valid from ${validFromDate.toISOString()} on`,
      'clients refuse it until then',
    );
  }
  if (((await modeOf(key)) & WORLD_READABLE) !== 0)
    warn(
      'key',
      'every user of this machine may read the key',
      `chmod 600 it, or 640 with the gateway's group`,
    );
  return found;
}

/** `name`: a host, an address (IPv6 with or without brackets), or `*.` and a host. */
export function covers(certificate: X509Certificate, name: string): boolean {
  const plain = name.replace(/^\[|\]$/g, '');
  if (isIP(plain) !== 0) return certificate.checkIP(plain) !== undefined;
  // Clients ignore the common name of the subject (RFC 9525 section 2).
  return certificate.checkHost(plain.replace(/^\*/, ANY_LABEL), { subject: 'never' }) !== undefined;
}

/** 0 for a file that was just deleted: the next read reports it. */
async function modeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).mode;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 0;
    throw error;
  }
}

/** Advice for a pair that does not match, if the first lines show the mistake. */
function adviceFor({ cert, key }: { readonly cert: string; readonly key: string }): string | undefined {
  if (!cert.includes(CERTIFICATE) && key.includes(CERTIFICATE))
    return 'each stands in the place of the other: exchange them';
  if (ENCRYPTED.test(key)) return 'the key asks for a passphrase: name one that does not';
  return undefined;
}

function isMatchingPair({ cert, key }: { readonly cert: string; readonly key: string }): boolean {
  try {
    // `createSecureContext` parses the whole chain, `checkPrivateKey` detects an empty file.
    createSecureContext({ cert, key });
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    // Messages of OpenSSL may quote the key.
    if (!(error instanceof Error)) throw error;
    return false;
  }
}
