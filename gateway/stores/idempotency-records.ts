// Reads and writes the stored text of idempotency keys. The format is the same in every store.
import type { IdempotencyStore, StoredResponse } from '../policy/idempotency/rules.ts';
import { faultOnce, isStoredObject, storedValue } from './stored-json.ts';

/** `claimed`: the key was free, and the caller now holds it. */
export interface KeyState {
  readonly state: 'claimed' | 'running' | 'unknown' | 'kept';
  readonly record: string | undefined;
}

export type KeyOutcome =
  | { readonly state: 'free' }
  | { readonly state: 'unknown'; readonly ms: number }
  | { readonly state: 'kept'; readonly record: string; readonly ms: number };

/** Both calls reject only with `StoreUnavailable`. */
export interface IdempotencyTexts {
  readonly claim: (key: string, owner: string, lockMs: number) => Promise<KeyState>;
  /** Sets the outcome. False, with nothing changed, unless `owner` holds the key and has not settled it. */
  readonly settle: (key: string, owner: string, next: KeyOutcome) => Promise<boolean>;
}

/**
 * `onFault` is called once for unreadable answers. Their keys stay until they expire, with an unknown outcome
 * (IDM-6): the request was carried out, and another release may be able to read its answer.
 */
export function createIdempotencyStore(
  texts: IdempotencyTexts,
  onFault: (error: unknown) => void,
): IdempotencyStore {
  const reportOnce = faultOnce(
    onFault,
    'a stored idempotency answer is unreadable; the outcome of its request is unknown',
  );
  return {
    claim: async (key, owner, lockMs) => {
      const { state, record } = await texts.claim(key, owner, lockMs);
      if (state !== 'kept') return { kind: state };
      const answer = record === undefined ? undefined : readAnswer(record);
      if (answer !== undefined) return { kind: 'kept', answer };
      reportOnce();
      return { kind: 'unknown' };
    },
    finish: (key, owner, answer, ms) =>
      texts.settle(key, owner, { state: 'kept', record: writeAnswer(answer), ms }),
    hold: (key, owner, ms) => texts.settle(key, owner, { state: 'unknown', ms }),
    release: (key, owner) => texts.settle(key, owner, { state: 'free' }),
  };
}

export function writeAnswer({ fingerprint, status, headers, body }: StoredResponse): string {
  return JSON.stringify({ fingerprint, status, headers, body: Buffer.from(body).toString('base64') });
}

/** Undefined for a text that is not a stored answer. */
export function readAnswer(text: string): StoredResponse | undefined {
  const stored = storedValue(text);
  if (!isStoredObject(stored)) return undefined;
  const { fingerprint, status, headers, body } = stored;
  if (typeof fingerprint !== 'string' || typeof body !== 'string' || !isHeaders(headers)) return undefined;
  if (!Number.isInteger(status) || Number(status) < 200 || Number(status) > 599) return undefined;
  return { fingerprint, status: Number(status), headers, body: Buffer.from(body, 'base64') };
}

function isHeaders(value: unknown): value is StoredResponse['headers'] {
  return isStoredObject(value) && Object.values(value).every((each) => isText(each) || isTexts(each));
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
