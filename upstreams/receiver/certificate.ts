// The receiver's certificate for `localhost`, made at its first start in the data folder; the webhooks service trusts this file.
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';

const DAY_MS = 24 * 3_600_000;
const LIFETIME_MS = 397 * DAY_MS;

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** Reads `receiver.crt` and `receiver.key`. Makes them if they are missing or expire within a month of `now`. */
export async function loadPair(dataFolder: string, now: number): Promise<Pair> {
  const [cert, key] = [join(dataFolder, 'receiver.crt'), join(dataFolder, 'receiver.key')];
  if (existsSync(cert) && existsSync(key)) {
    const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
    if (Date.parse(new X509Certificate(pair.cert).validTo) > now + 30 * DAY_MS) return pair;
  }
  // The subject must be unique: of two trusted self-signed certificates with one subject, OpenSSL uses the first for both.
  const made = await generate([{ name: 'commonName', value: 'receiver of the Sundial demo' }], {
    keyType: 'ec',
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + LIFETIME_MS),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  mkdirSync(dataFolder, { recursive: true });
  writeWhole(key, made.private, 0o600);
  writeWhole(cert, made.cert, 0o644);
  return { cert: made.cert, key: made.private };
}

/** Writes a temporary file and renames it, so that no reader sees a partial file. */
function writeWhole(file: string, text: string, mode: number): void {
  writeFileSync(`${file}.new`, text, { mode });
  renameSync(`${file}.new`, file);
}
