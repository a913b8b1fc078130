// The admin token: the configured one, or one created at the first start and stored in the data folder.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ADMIN_TOKEN_FILE, parseAdminToken } from '../plan/grammar/listeners-section.ts';
import { makeFolder } from '../system/make-folder.ts';

const TOKEN_BYTES = 32;
const WAYS_OUT =
  'this user must be able to read and write that file, or set listeners.admin.token in the gateway file';
const BEARER = /^bearer +([^ ]+) *$/i;

export interface TokenSource {
  readonly configured: string | undefined;
  readonly dataFolder: string;
}

/**
 * Processes that start together on one folder get the same token.
 * @throws Error if the file in the data folder cannot be read or created, or has no token
 */
export async function openAdminToken({ configured, dataFolder }: TokenSource): Promise<string> {
  if (configured !== undefined) return configured;
  const file = join(dataFolder, ADMIN_TOKEN_FILE);
  const token = parseAdminToken((await readOrMake(file, dataFolder)).trim());
  if (token === undefined)
    throw new Error(`${file} has no valid token: remove it, and the next start makes a token`);
  return token;
}

async function readOrMake(file: string, dataFolder: string): Promise<string> {
  try {
    const kept = (await readIfThere(file)) ?? (await make(file, dataFolder));
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
    return kept;
  } catch (error) {
    throw new Error(`there is no admin token: ${messageOf(error)}; ${WAYS_OUT}`, { cause: error });
  }
}

/** Links a temporary file, so readers see a whole token and a second process reads the token of the first. */
async function make(file: string, dataFolder: string): Promise<string> {
  await makeFolder(dataFolder, { mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(temporary, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
    });
    await link(temporary, file).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    return await readFile(file, 'utf8');
  } finally {
    await rm(temporary, { force: true });
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Returns whether an `Authorization` value has the token. Compares in constant time. */
export function createTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization) => {
    const [, presented = ''] = BEARER.exec(authorization ?? '') ?? [];
    return timingSafeEqual(digest(presented), expected);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
