// Reading from disk: capped bytes, the files a pattern names, certificate pairs. The only file access of the plan
// besides the watch.
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { glob, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { MOST_BYTES } from './yaml-text.ts';

const MOST_SECRET_BYTES = 65_536;
// A pipe nobody writes to would otherwise be waited for; that it is no file is seen after opening.
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads at most one byte more than `mostBytes`; default: what a policy may have. */
export type ReadFile = (path: string, mostBytes?: number) => Promise<Uint8Array>;

export type FileRead =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'unreadable'; readonly why: string };

/** At most one byte more than a document may have, so that a huge file is refused without being read. */
export const readCapped: ReadFile = async (path, mostBytes = MOST_BYTES) => {
  await using file = await open(path, WITHOUT_WAITING);
  if (!(await file.stat()).isFile()) throw new TypeError('not a file');
  const buffer = new Uint8Array(mostBytes + 1);
  let length = 0;
  while (length < buffer.byteLength) {
    const { bytesRead } = await file.read(buffer, length, buffer.byteLength - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
};

export async function tryRead(path: string, readFile: ReadFile, mostBytes?: number): Promise<FileRead> {
  try {
    return { kind: 'read', bytes: await readFile(path, mostBytes) };
  } catch (error) {
    return { kind: 'unreadable', why: reasonOf(error) };
  }
}

/** A secret from a file; undefined when it cannot be read. Small, and read only while a plan is built. */
export function readSecret(path: string): string | undefined {
  try {
    const file = openSync(path, WITHOUT_WAITING);
    try {
      if (!fstatSync(file).isFile()) return undefined;
      const buffer = Buffer.alloc(MOST_SECRET_BYTES + 1);
      const length = readSync(file, buffer);
      return length <= MOST_SECRET_BYTES ? buffer.toString('utf8', 0, length) : undefined;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Files that match, sorted; editors' hidden files are not policies. */
export async function findFiles(patterns: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    for await (const path of glob(pattern)) if (!basename(path).startsWith('.')) found.add(path);
  }
  return [...found].sort();
}

/** The YAML files in a folder and below it, sorted; undefined when it is no folder that can be read. */
export async function filesIn(folder: string): Promise<readonly string[] | undefined> {
  try {
    const entries = await readdir(folder, { recursive: true });
    const yaml = entries.filter((name) => /\.ya?ml$/.test(name) && !basename(name).startsWith('.'));
    return yaml.map((name) => join(folder, name)).sort();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** What keeps a certificate and its key from being used; undefined when nothing does. */
export async function checkPair(
  pair: { readonly cert: string; readonly key: string },
  readFile: ReadFile,
): Promise<{ readonly at: 'cert' | 'key'; readonly message: string } | undefined> {
  const cert = await tryRead(pair.cert, readFile);
  if (cert.kind === 'unreadable') return { at: 'cert', message: `cannot read the certificate: ${cert.why}` };
  const key = await tryRead(pair.key, readFile);
  if (key.kind === 'unreadable') return { at: 'key', message: `cannot read the key: ${key.why}` };
  try {
    createSecureContext({ cert: Buffer.from(cert.bytes), key: Buffer.from(key.bytes) });
    return undefined;
  } catch (error) {
    // What OpenSSL says may quote the key; that it failed is enough.
    if (!(error instanceof Error)) throw error;
    return { at: 'cert', message: 'not a PEM certificate with its private key' };
  }
}

/** SHA-256, hex; lengths keep neighbouring parts apart. */
export function digest(parts: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return 'no such file';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'EISDIR':
      return 'it is a folder';
    default:
      return error instanceof TypeError ? error.message : 'the system refused';
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}
