// The sample issuer's signing key, kept in a file so that tokens stay valid over restarts.
// Shared by the server and the token command, which may start at the same moment and must end with the same key.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';

export interface IssuerKey {
  readonly kid: string;
  /** Private: for signing only. */
  readonly privateJwk: JWK;
  /** For the JWK set. */
  readonly publicJwk: JWK;
}

/** Reads `issuer-key.json` in `dataFolder`, making it first where it is missing; whoever comes second uses the first's. */
export async function loadIssuerKey(dataFolder: string): Promise<IssuerKey> {
  const file = join(dataFolder, 'issuer-key.json');
  const found = await readKey(file);
  if (found !== undefined) return found;
  await mkdir(dataFolder, { recursive: true });
  await createKey(file);
  const made = await readKey(file);
  if (made === undefined) throw new Error(`${file} went away while it was being made`);
  return made;
}

/** A link appears whole and never replaces a file, so no reader sees half a key and no key is lost to a later one. */
async function createKey(file: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  await writeFile(draft, `${JSON.stringify({ ...jwk, kid, alg: 'RS256', use: 'sig' })}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  try {
    await link(draft, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
}

async function readKey(file: string): Promise<IssuerKey | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  const jwk: unknown = JSON.parse(text);
  if (!isRsaKey(jwk))
    throw new Error(`${file} holds no key of the sample issuer; remove it to have a new one made`);
  const { kty, n, e, kid, alg, use } = jwk;
  return { kid, privateJwk: jwk, publicJwk: { kty, n, e, kid, alg, use } };
}

interface RsaJwk extends JWK {
  readonly kty: 'RSA';
  readonly kid: string;
  readonly n: string;
  readonly e: string;
  readonly d: string;
  readonly alg: 'RS256';
  readonly use: 'sig';
}

function isRsaKey(value: unknown): value is RsaJwk {
  if (typeof value !== 'object' || value === null) return false;
  const key: Readonly<Record<string, unknown>> = { ...value };
  const complete = ['kid', 'n', 'e', 'd'].every((name) => typeof key[name] === 'string');
  return complete && key.kty === 'RSA' && key.alg === 'RS256' && key.use === 'sig';
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
