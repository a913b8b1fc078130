// API keys as texts and records: parsing, validity, rotation and revocation.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  consumerOfKey,
  flawOfKey,
  isKeyId,
  makeKey,
  type NewKey,
  newKeyId,
  newSecret,
  parseApiKey,
  revokeKey,
  rotateKey,
  stateOfKey,
} from '../../gateway/policy/authentication/key-record.ts';
import { anyText } from '../support/any-text.ts';

const NOW = 1_000_000;
const asked: Omit<NewKey, 'id'> = {
  ...{ consumer: 'acme', scopes: ['a'], contact: undefined, expires: undefined },
};

function newKey(more: Partial<NewKey> = {}) {
  const id = newKeyId();
  const { key, digest } = newSecret(id);
  return { key, digest, record: makeKey({ ...asked, id, ...more }, digest, NOW) };
}

describe('the text of a key', () => {
  it('has a public id, 160 random bits and a checksum, and can be parsed', () => {
    for (let count = 0; count < 50; count += 1) {
      const { key, digest, record } = newKey();
      expect(key).toMatch(/^sdl_[0-9a-hjkmnp-tv-z]{12}_[0-9a-hjkmnp-tv-z]{39}$/);
      expect(parseApiKey(key)).toEqual({ id: record.id, digest });
      expect(JSON.stringify(record)).not.toContain(key.slice(17));
    }
  });

  it('is unique', () => {
    expect(new Set(Array.from({ length: 1000 }, () => newKey().key.slice(-39))).size).toBe(1000);
  });

  it('detects one changed character and two swapped ones', () => {
    const { key } = newKey();
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...'0123456789abcxyz'), (at, character) => {
        fc.pre(key[at] !== character);
        expect(parseApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBeUndefined();
      }),
    );
    for (let at = 4; at + 1 < key.length; at += 1) {
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
      if (swapped !== key) expect(parseApiKey(swapped)).toBeUndefined();
    }
  });

  it('is refused in any other form', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(parseApiKey(text)).toBeUndefined();
        expect(isKeyId(`${text}!`)).toBe(false);
      }),
    );
  });
});

describe('the record of a key', () => {
  it('the right secret gives the consumer, a wrong secret for the same id does not', () => {
    const { digest, record } = newKey();
    expect(flawOfKey(record, digest, NOW)).toBeUndefined();
    expect(consumerOfKey(record, digest)).toEqual({
      ...{
        id: 'acme',
        mayLabelMetrics: true,
        via: 'key',
        scopes: new Set(['a']),
        claims: {},
        ends: undefined,
      },
    });
    for (const wrong of [newSecret(record.id).digest, '', 'zz', digest.slice(2)])
      expect(flawOfKey(record, wrong, NOW)).toBe('unknown');
  });

  it('expires at its date, and permanently on revocation', () => {
    const { digest, record } = newKey({ expires: NOW + 10 });
    expect(flawOfKey(record, digest, NOW + 9)).toBeUndefined();
    expect(flawOfKey(record, digest, NOW + 10)).toBe('expired');
    expect(consumerOfKey(record, digest).ends).toBe(NOW + 10);
    const revoked = revokeKey(record, NOW + 1);
    expect(flawOfKey(revoked, digest, NOW + 2)).toBe('revoked');
    expect([record, revoked].map((each) => stateOfKey(each, NOW + 20))).toEqual(['expired', 'revoked']);
  });

  it('after a rotation both secrets are valid during the overlap, then only the new one', () => {
    const { digest, record } = newKey();
    const next = newSecret(record.id).digest;
    const rotated = rotateKey(record, next, { now: NOW, overlapMs: 100 });
    const flaws = (at: number) => [digest, next].map((each) => flawOfKey(rotated, each, at));
    expect(flaws(NOW + 99)).toEqual([undefined, undefined]);
    expect(flaws(NOW + 100)).toEqual(['expired', undefined]);
    // A rotation extends no secret beyond the expiry of the key.
    const ending = rotateKey({ ...record, expires: NOW + 50 }, next, { now: NOW, overlapMs: 100 });
    expect([NOW + 49, NOW + 50].map((at) => flawOfKey(ending, digest, at))).toEqual([undefined, 'expired']);
    expect(consumerOfKey(ending, digest).ends).toBe(NOW + 50);
    // The next rotation drops expired secrets and extends none.
    const twice = rotateKey(rotated, 'ab', { now: NOW + 50, overlapMs: 1000 });
    expect(twice.secrets.map(({ until }) => until)).toEqual([undefined, NOW + 1050, NOW + 100]);
    expect(rotateKey(twice, 'cd', { now: NOW + 200, overlapMs: 1 }).secrets).toHaveLength(3);
  });
});
