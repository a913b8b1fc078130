// The key pairs of the public listeners, and which of them a client gets by SNI (TLS-3, TLS-4).
import { X509Certificate } from 'node:crypto';
import { wildcardOf } from '../exchange/request-view.ts';
import { readAuthorities } from '../plan/read/authorities.ts';
import { readCapped } from '../plan/read/files.ts';
import { type PairFiles, readPair } from '../plan/read/key-pair.ts';
import type { ClientCertificates, HttpsSettings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';

export interface KeyPair {
  /** SNI names, lower case. `*.` matches one label. */
  readonly names: readonly string[];
  readonly cert: string;
  readonly key: string;
  readonly expiry: EpochMs;
  /** How connections request client certificates, equal for every pair. Undefined: they request none. */
  readonly clients?: ClientCertificatePolicy | undefined;
}

export interface ClientCertificatePolicy {
  /** PEM of the authorities that may sign client certificates. */
  readonly authorities: string;
  readonly required: boolean;
}

export interface Certificates {
  readonly pairs: readonly KeyPair[];
  /** For clients without SNI. Undefined: their handshake fails. */
  readonly default: KeyPair | undefined;
  /** Without a name, the default pair. Undefined: no certificate for this name. */
  readonly pairFor: (servername: string | undefined) => KeyPair | undefined;
  /** SHA-256 of the default certificate, else of the first. Hex with colons. */
  readonly fingerprint: string;
}

/** Rejects if the files are unusable or do not cover the names. The message contains no part of the key. */
export async function loadPair(files: PairFiles): Promise<KeyPair> {
  const names = files.names.map((name) => name.toLowerCase());
  const read = await readPair({ ...files, names }, readCapped);
  if (read.kind === 'unusable') throw new Error(`${names.join(', ')}: ${read.finding.message}`);
  const { cert, key, expiry } = read;
  return { names, cert, key, expiry };
}

export async function loadClients(settings: ClientCertificates): Promise<ClientCertificatePolicy> {
  const read = await readAuthorities(settings.ca, readCapped);
  if (read.kind === 'unusable') throw new Error(`client certificates: ${read.finding.message}`);
  return { authorities: read.pem, required: settings.required };
}

/** `pairs` has at least one. */
export function certificatesOf(
  pairs: readonly KeyPair[],
  { defaultName, refusesNameless }: Pick<HttpsSettings, 'defaultName' | 'refusesNameless'>,
): Certificates {
  const byName = new Map(pairs.flatMap((pair) => pair.names.map((name) => [name, pair] as const)));
  const [first] = pairs;
  if (first === undefined) throw new RangeError('no certificate');
  const chosen = defaultName === undefined ? undefined : byName.get(defaultName);
  const fallback = refusesNameless ? undefined : (chosen ?? first);
  return {
    pairs,
    default: fallback,
    pairFor: (servername) => {
      if (servername === undefined) return fallback;
      const name = servername.toLowerCase();
      return byName.get(name) ?? byName.get(wildcardOf(name));
    },
    fingerprint: new X509Certificate((fallback ?? first).cert).fingerprint256,
  };
}
