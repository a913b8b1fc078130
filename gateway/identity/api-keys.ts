// Authenticates requests with API keys from a header.
import type {
  AuthenticationResult,
  Authenticator,
  CallerEvidence,
  Consumer,
  KeyFlaw,
} from '../policy/authentication/access.ts';
import {
  consumerOfKey,
  type FoundKey,
  flawOfKey,
  type KeyLookup,
  type KeyParts,
  type KeyRecord,
  parseApiKey,
} from '../policy/authentication/key-record.ts';
import type { EpochMs } from '../policy/contract.ts';

export interface KeyAuthenticatorOptions {
  /** As in the gateway file. */
  readonly header: string;
  readonly keys: KeyLookup;
  /** The real clock. */
  readonly now: () => EpochMs;
}

const MISSING: AuthenticationResult = { kind: 'refused', refusal: { reason: 'credentials_missing' } };

/** AUTH-3. A header with several keys is malformed. A mistyped key is refused without a store call. */
export function createKeyAuthenticator({ header, keys, now }: KeyAuthenticatorOptions): Authenticator {
  const field = header.toLowerCase();
  const malformed: AuthenticationResult = {
    kind: 'refused',
    refusal: { reason: 'credentials_malformed', field: header },
  };
  /** One object per record. A changed key is a new record. */
  const consumers = new WeakMap<KeyRecord, Map<string, Consumer>>();

  const consumerOf = (record: KeyRecord, digest: string): Consumer => {
    const known = consumers.get(record) ?? new Map<string, Consumer>();
    const consumer = known.get(digest) ?? {
      ...consumerOfKey(record, digest),
      isRevoked: () => isRevoked(record.id, digest),
    };
    // Few entries: only digests of the record's own secrets get here.
    consumers.set(record, known.set(digest, consumer));
    return consumer;
  };
  /** Uses the cached record. A cache miss starts a look-up for the next call. */
  const isRevoked = (id: string, digest: string): boolean => {
    const found = keys.find(id);
    if (found instanceof Promise) {
      found.catch(() => undefined);
      return false;
    }
    if (found.kind === 'found') return flawOfKey(found.record, digest, now()) !== undefined;
    return found.kind === 'unknown';
  };
  const toResult = (found: FoundKey, { digest }: KeyParts): AuthenticationResult => {
    switch (found.kind) {
      case 'found': {
        const flaw = flawOfKey(found.record, digest, now());
        if (flaw !== undefined) return refused(flaw);
        return { kind: 'consumer', consumer: consumerOf(found.record, digest) };
      }
      case 'unknown':
        return refused('unknown');
      case 'away':
        return { kind: 'unavailable' };
      default:
        return found satisfies never;
    }
  };

  return {
    via: 'key',
    field: header,
    isPresent: ({ headers }) => isPresent(headers.get(field)),
    claims: ({ headers }) => isPresent(headers.get(field)),
    judge: ({ headers }: CallerEvidence) => {
      const value = headers.get(field);
      if (!isPresent(value)) return MISSING;
      // Node joins several lines with commas.
      if (value.includes(',')) return malformed;
      const parts = parseApiKey(value);
      if (parts === undefined) return refused('checksum');
      const found = keys.find(parts.id);
      return found instanceof Promise ? found.then((each) => toResult(each, parts)) : toResult(found, parts);
    },
  };
}

function isPresent(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function refused(flaw: KeyFlaw): AuthenticationResult {
  return { kind: 'refused', refusal: { reason: 'key_invalid', flaw } };
}
