// A certificate and its key as files: whether they can be used together, and for the names they are written for.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { EpochMs } from '../../policy/contract.ts';
import { type ReadFile, tryRead } from './files.ts';

export interface PairFiles {
  /** What the pair is for, lower case; `*.` stands for one label. */
  readonly names: readonly string[];
  /** Absolute paths of PEM files. */
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
/** As OpenSSL writes it now, and as it did. */
const ENCRYPTED = /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m;
const OTHERS_MAY_READ = 0o004;
/** A name that stands for every one a wildcard covers. */
const ANY_LABEL = 'any-label';

/** Reads the pair; whatever keeps it from being used for its names is a finding, never with a byte of the key in it. */
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
  if (!fitTogether(pair))
    return unusable('cert', 'not a PEM certificate with its private key', adviceFor(pair));
  const certificate = new X509Certificate(pair.cert);
  const missing = files.names.find((name) => !covers(certificate, name));
  if (missing !== undefined) return unusable('names', `the certificate is not for ${missing}`);
  return { kind: 'read', ...pair, expiry: certificate.validToDate.getTime() };
}

/** What an operator should know of a pair that can be used. */
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
  if (((await modeOf(key)) & OTHERS_MAY_READ) !== 0)
    warn(
      'key',
      'every user of this machine may read the key',
      `chmod 600 it, or 640 with the gateway's group`,
    );
  return found;
}

/** Whether `certificate` speaks for `name`: a host, an address (IPv6 with or without brackets), or `*.` and a host. */
export function covers(certificate: X509Certificate, name: string): boolean {
  const plain = name.replace(/^\[|\]$/g, '');
  if (isIP(plain) !== 0) return certificate.checkIP(plain) !== undefined;
  // The subject's common name counts for no client any more (RFC 9525 section 2).
  return certificate.checkHost(plain.replace(/^\*/, ANY_LABEL), { subject: 'never' }) !== undefined;
}

/** Nothing of a file that has just gone: whoever reads it next says so. */
async function modeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).mode;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 0;
    throw error;
  }
}

/** What to do about two files that do not fit together, where their first lines tell. */
function adviceFor({ cert, key }: { readonly cert: string; readonly key: string }): string | undefined {
  if (!cert.includes(CERTIFICATE) && key.includes(CERTIFICATE))
    return 'each stands in the place of the other: exchange them';
  if (ENCRYPTED.test(key)) return 'the key asks for a passphrase: name one that does not';
  return undefined;
}

function fitTogether({ cert, key }: { readonly cert: string; readonly key: string }): boolean {
  try {
    // Of the two only this one reads the whole chain, and only the other one minds an empty file.
    createSecureContext({ cert, key });
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    // What OpenSSL says may quote the key; that it failed is enough.
    if (!(error instanceof Error)) throw error;
    return false;
  }
}
