// The key pairs of the public face, and which of them answers for a name (TLS-3, TLS-4).
import { X509Certificate } from 'node:crypto';
import { wildcardOf } from '../exchange/request-view.ts';
import { readAuthorities } from '../plan/read/authorities.ts';
import { readCapped } from '../plan/read/files.ts';
import { type PairFiles, readPair } from '../plan/read/key-pair.ts';
import type { ClientCertificates, HttpsSettings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';

export interface KeyPair {
  /** Names a client may ask for by SNI, lower case; `*.` matches one label. */
  readonly names: readonly string[];
  readonly cert: string;
  readonly key: string;
  /** When the certificate ends. */
  readonly expiry: EpochMs;
  /** What clients are asked for on its connections, the same for every pair; undefined: nothing. */
  readonly clients?: ClientCertificatePolicy | undefined;
}

export interface ClientCertificatePolicy {
  /** PEM of those that prove their certificates. */
  readonly authorities: string;
  readonly required: boolean;
}

export interface Certificates {
  readonly pairs: readonly KeyPair[];
  /** Presented when a client names no host; undefined: it is refused. */
  readonly default: KeyPair | undefined;
  /** What a client that names `servername` is shown, the default for none; undefined: nothing answers for that name. */
  readonly pairFor: (servername: string | undefined) => KeyPair | undefined;
  /** SHA-256 of the default certificate, or of the first one, hex with colons. */
  readonly fingerprint: string;
}

/** Rejects when the files cannot be read, are no pair, or are not for its names; the message quotes nothing of the key. */
export async function loadPair(files: PairFiles): Promise<KeyPair> {
  const names = files.names.map((name) => name.toLowerCase());
  const read = await readPair({ ...files, names }, readCapped);
  if (read.kind === 'unusable') throw new Error(`${names.join(', ')}: ${read.finding.message}`);
  const { cert, key, expiry } = read;
  return { names, cert, key, expiry };
}

/** Rejects when the file of the authorities cannot be read or holds none. */
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
