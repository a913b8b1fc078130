// The signing keys of the sample issuer, kept in files so that tokens stay valid over restarts.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';

/** A private key. */
export type IssuerKey = RsaJwk;

const CURRENT = 'issuer-key.json';
const PREVIOUS = 'issuer-key-previous.json';

/**
 * The signing key and the previous key, whose tokens may not have expired (OAU-10). Creates `issuer-key.json` if it is missing.
 * Processes that start at the same time end with the same key.
 */
export async function loadIssuerKeys(dataFolder: string): Promise<readonly IssuerKey[]> {
  const file = join(dataFolder, CURRENT);
  const current = (await readKey(file)) ?? (await makeFirst(file, dataFolder));
  const previous = await readKey(join(dataFolder, PREVIOUS));
  return previous === undefined || previous.kid === current.kid ? [current] : [current, previous];
}

/**
 * Makes a new key that signs from the next start on. The present key becomes the previous one.
 * @throws Error if there is no key yet
 */
export async function rotateIssuerKey(dataFolder: string): Promise<IssuerKey> {
  const file = join(dataFolder, CURRENT);
  if ((await readKey(file)) === undefined) throw new Error(`${file} is missing: there is no key to replace`);
  const [draft, copy] = [await writeDraft(file), `${file}.${randomUUID()}`];
  // In this order a process that starts in between finds every key that has signed.
  await link(file, copy);
  await rename(copy, join(dataFolder, PREVIOUS));
  await rename(draft, file);
  const made = await readKey(file);
  if (made === undefined) throw new Error(`${file} was removed while it was being created`);
  return made;
}

async function makeFirst(file: string, dataFolder: string): Promise<IssuerKey> {
  await mkdir(dataFolder, { recursive: true });
  await createKey(file);
  const made = await readKey(file);
  if (made === undefined) throw new Error(`${file} was removed while it was being created`);
  return made;
}

async function writeDraft(file: string): Promise<string> {
  const draft = `${file}.${randomUUID()}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  const text = `${JSON.stringify({ ...jwk, kid, alg: 'RS256', use: 'sig' })}\n`;
  await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
  return draft;
}

/** `link` is atomic and never replaces a file: no reader sees a partial key, and no key is lost to a later one. */
async function createKey(file: string): Promise<void> {
  const draft = await writeDraft(file);
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
  const jwk = parse(text);
  if (!isRsaKey(jwk))
    throw new Error(`${file} contains no key of the sample issuer; remove it to create a new one`);
  return jwk;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's message would quote the key
  }
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
  const complete = ['kid', 'n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'].every(
    (name) => typeof key[name] === 'string',
  );
  return complete && key.kty === 'RSA' && key.alg === 'RS256' && key.use === 'sig';
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
