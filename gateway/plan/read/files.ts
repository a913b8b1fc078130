// Reads files from disk with a size limit, reads secrets, and finds files by pattern.
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs';
import { glob, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SecretRead } from './interpolate.ts';

export const NO_FILE = 'no such file';
export const A_FOLDER = 'it is a folder';
const TOO_MANY = 'the pattern covers more than 50,000 files and folders';
const NOT_A_FILE = 'it is not a regular file';
export const MAX_BYTES = 1_000_000;
const MAX_SECRET_BYTES = 65_536;
// A blocking open would wait for the writer of a pipe. Pipes are refused after opening.
const NON_BLOCKING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads at most one byte more than `mostBytes`. Default: the limit of a policy. */
export type ReadFile = (path: string, mostBytes?: number) => Promise<Uint8Array>;

export type FileRead =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Reads at most one byte more than the limit, so that a huge file is refused without being read. */
export const readCapped: ReadFile = async (path, mostBytes = MAX_BYTES) => {
  await using file = await open(path, NON_BLOCKING);
  const stat = await file.stat();
  refuseOthers(stat);
  // Allocates the size of the file, not the limit: thousands of files are in memory together.
  let buffer = new Uint8Array(Math.min(stat.size, mostBytes) + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.byteLength - length, null);
    length += bytesRead;
    if (bytesRead === 0 || length > mostBytes) return buffer.subarray(0, length);
    if (length === buffer.byteLength) buffer = larger(buffer, mostBytes);
  }
};

export async function tryRead(path: string, readFile: ReadFile, mostBytes?: number): Promise<FileRead> {
  try {
    return { kind: 'read', bytes: await readFile(path, mostBytes) };
  } catch (error) {
    return { kind: 'unreadable', why: reasonOf(error, path) };
  }
}

/** The same with synchronous calls: four times as fast for small files. For processes that serve no requests. */
export const readAtOnce: ReadFile = async (path, mostBytes = MAX_BYTES) => readNow(path, mostBytes);

/** Reads a secret synchronously: it is small, and only plans in the making need it. */
export function readSecret(path: string): SecretRead {
  try {
    const bytes = readNow(path, MAX_SECRET_BYTES);
    return bytes.byteLength <= MAX_SECRET_BYTES
      ? { kind: 'read', text: new TextDecoder().decode(bytes) }
      : { kind: 'unreadable', why: `it is larger than ${MAX_SECRET_BYTES / 1_024} KiB` };
  } catch (error) {
    if (codeOf(error) === undefined && !(error instanceof TypeError)) throw error;
    return { kind: 'unreadable', why: reasonOf(error, path) };
  }
}

function refuseOthers(stat: Stats): void {
  if (!stat.isFile()) throw new TypeError(stat.isDirectory() ? A_FOLDER : NOT_A_FILE);
}

function readNow(path: string, mostBytes: number): Uint8Array {
  const file = openSync(path, NON_BLOCKING);
  try {
    const stat = fstatSync(file);
    refuseOthers(stat);
    let buffer = new Uint8Array(Math.min(stat.size, mostBytes) + 1);
    let length = 0;
    for (;;) {
      const bytesRead = readSync(file, buffer, length, buffer.byteLength - length, null);
      length += bytesRead;
      if (bytesRead === 0 || length > mostBytes) return buffer.subarray(0, length);
      if (length === buffer.byteLength) buffer = larger(buffer, mostBytes);
    }
  } finally {
    closeSync(file);
  }
}

function larger(buffer: Uint8Array<ArrayBuffer>, mostBytes: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(Math.min(2 * buffer.byteLength, mostBytes + 1));
  grown.set(buffer);
  return grown;
}

export interface FoundFiles {
  /** Sorted, without hidden files, which editors create. */
  readonly files: readonly string[];
  /** Why a folder could not be searched. Undefined if it could. */
  readonly why: string | undefined;
}

/** The most files and folders that a search visits: about a second of work. */
const MAX_SEEN = 50_000;

/** Finds the files that match absolute patterns. Does not reject for malformed patterns or unreadable folders. */
export async function findFiles(patterns: readonly string[]): Promise<FoundFiles> {
  const found = new Set<string>();
  let why: string | undefined;
  let seen = 0;
  const exclude = (): boolean => {
    seen += 1;
    if (seen > MAX_SEEN) throw new TypeError(TOO_MANY);
    return false;
  };
  for (const pattern of patterns) {
    try {
      for await (const path of glob(pattern, { exclude }))
        if (!basename(path).startsWith('.')) found.add(path);
      // `glob` reports unreadable folders as empty.
      if (found.size === 0) await readdir(folderBefore(pattern));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') why ??= reasonOf(error, folderBefore(pattern));
    }
  }
  return { files: seen > MAX_SEEN ? [] : [...found].sort(), why };
}

/** The folder before the first wildcard. */
function folderBefore(pattern: string): string {
  const plain = pattern.split(/[*?[\]{}()!+@|\\]/, 1)[0] ?? '';
  return plain.slice(0, plain.lastIndexOf('/') + 1) || '/';
}

/** The YAML files in a folder and its subfolders, sorted. Undefined if the folder cannot be read. */
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

/** SHA-256, hex. The length of each part is hashed too, so that different splits differ. */
export function digest(parts: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}

function reasonOf(error: unknown, path: string): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return linkTarget(path) ?? NO_FILE;
    case 'ELOOP':
      return 'its symbolic links form a loop';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'EISDIR':
      return A_FOLDER;
    case 'ENOTDIR':
      return 'a part of its path is a file, not a folder';
    case 'ENAMETOOLONG':
      return 'its name is too long';
    case 'ERR_INVALID_ARG_VALUE':
      return 'its name has a NUL character';
    default:
      return error instanceof TypeError ? error.message : 'the operating system refused access';
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return `it is a link to ${readlinkSync(path)}, which does not exist`;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}
