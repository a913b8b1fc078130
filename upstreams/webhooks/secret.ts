// Secrets of subscriptions: made, sealed under the key of the service, and opened for signing.
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `whsec_` and base64 of the HMAC key (WH-2). The decoded bytes are the key, not these characters. */
export type Secret = `whsec_${string}`;

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function makeSecret(random: (bytes: number) => Buffer = randomBytes): Secret {
  return `${PREFIX}${random(SECRET_BYTES).toString('base64')}`;
}

export function secretBytes(secret: Secret): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

/** The stored form: AES-256-GCM under the key of this service, in base64. */
export function sealSecret(key: Buffer, secret: Secret): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(secretBytes(secret)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Undefined if the secret was sealed under another key or is damaged. */
export function openSecret(key: Buffer, sealed: string): Secret | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
  if (tag.length !== TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, nonce);
  decipher.setAuthTag(tag);
  const opened = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    return `${PREFIX}${Buffer.concat([opened, decipher.final()]).toString('base64')}`;
  } catch {
    return undefined; // the tag does not match; `final` can only throw
  }
}

/**
 * Reads the key of this service from `webhooks-key` in the data folder, readable by its owner only. Creates it if it is missing.
 * If two processes start at once, both get the same key: a link never replaces a file.
 * @throws Error if the file contains something else
 */
export function loadSealingKey(dataFolder: string): Buffer {
  const file = join(dataFolder, 'webhooks-key');
  mkdirSync(dataFolder, { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== KEY_BYTES)
    throw new Error(
      `${file} contains no key of ${KEY_BYTES} bytes in base64; secrets sealed with it are lost`,
    );
  return key;
}
