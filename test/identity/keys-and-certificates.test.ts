// API keys and client certificates in requests: their verdicts and revocation.
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import { createKeyAuthenticator } from '../../gateway/identity/api-keys.ts';
import { createCertificateAuthenticator } from '../../gateway/identity/authenticators.ts';
import type { ClientCertificate } from '../../gateway/policy/authentication/access.ts';
import type { CertificatePlace } from '../../gateway/policy/authentication/consumer.ts';
import {
  type FoundKey,
  type KeyRecord,
  makeKey,
  newKeyId,
  newSecret,
  revokeKey,
  rotateKey,
} from '../../gateway/policy/authentication/key-record.ts';

const NOW = 1_000_000;

describe('an API key', () => {
  const id = newKeyId();
  const { key, digest } = newSecret(id);
  const fields = { id, consumer: 'acme', scopes: ['a'], contact: undefined, expires: NOW + 1 };
  const record: KeyRecord = makeKey(fields, digest, 0);

  async function judged(header: string | readonly string[] | undefined, found: FoundKey, now = NOW) {
    const ids: string[] = [];
    const find = (each: string) => {
      ids.push(each);
      return found;
    };
    const authenticator = createKeyAuthenticator({ header: 'X-API-Key', keys: { find }, now: () => now });
    const outcome = await authenticator.judge({
      headers: new RecordFields({ 'x-api-key': header }),
    });
    return [outcome.kind === 'refused' ? outcome.refusal : outcome.kind, ids.length] as const;
  }

  it.each<[string, Parameters<typeof judged>, unknown, number]>([
    ['that is valid', [key, { kind: 'found', record }], 'consumer', 1],
    ['that is unknown', [key, { kind: 'unknown' }], { reason: 'key_invalid', flaw: 'unknown' }, 1],
    [
      'that is revoked',
      [key, { kind: 'found', record: revokeKey(record, 5) }],
      { reason: 'key_invalid', flaw: 'revoked' },
      1,
    ],
    [
      'that is expired',
      [key, { kind: 'found', record }, NOW + 1],
      { reason: 'key_invalid', flaw: 'expired' },
      1,
    ],
    ['while the store is unavailable', [key, { kind: 'away' }], 'unavailable', 1],
    ['that is mistyped', [`${key}0`, { kind: 'away' }], { reason: 'key_invalid', flaw: 'checksum' }, 0],
    ['repeated', [[key, key], { kind: 'away' }], { reason: 'credentials_malformed', field: 'X-API-Key' }, 0],
    [
      'repeated in one line',
      [`${key}, ${key}`, { kind: 'away' }],
      { reason: 'credentials_malformed', field: 'X-API-Key' },
      0,
    ],
    ['that is absent', [undefined, { kind: 'away' }], { reason: 'credentials_missing' }, 0],
    ['that is empty', ['', { kind: 'away' }], { reason: 'credentials_missing' }, 0],
  ])('AUTH-3: %s gets its own verdict', async (_what, carried, outcome, questions) => {
    expect(await judged(...carried)).toEqual([outcome, questions]);
  });
});

describe('a WebSocket opened with an API key', () => {
  const id = newKeyId();
  const { key, digest } = newSecret(id);
  const record = makeKey(
    { id, consumer: 'acme', scopes: [], contact: undefined, expires: undefined },
    digest,
    0,
  );
  const found = (next: KeyRecord): FoundKey => ({ kind: 'found', record: next });

  it.each<[string, () => FoundKey | Promise<FoundKey>, boolean]>([
    ['not while the key is valid', () => found(record), false],
    ['once the key is revoked', () => found(revokeKey(record, 5)), true],
    [
      'not within the overlap of a rotation',
      () => found(rotateKey(record, 'ab', { now: 5, overlapMs: NOW })),
      false,
    ],
    [
      'after the overlap of a rotation',
      () => found(rotateKey(record, 'ab', { now: 5, overlapMs: 10 })),
      true,
    ],
    ['once the key is unknown', () => ({ kind: 'unknown' }), true],
    ['not while the store is unavailable', () => ({ kind: 'away' }), false],
    ['not while the look-up runs', () => Promise.resolve(found(revokeKey(record, 5))), false],
    ['not if the look-up fails', () => Promise.reject(new Error('no record')), false],
  ])('AUTH-3: ends with its key: %s', async (_what, next, isRevoked) => {
    let find: () => FoundKey | Promise<FoundKey> = () => found(record);
    const keys = { find: () => find() };
    const { judge } = createKeyAuthenticator({ header: 'X-API-Key', keys, now: () => NOW });
    const judged = await judge({ headers: new RecordFields({ 'x-api-key': key }) });
    if (judged.kind !== 'consumer') throw new Error(judged.kind);
    find = next;
    expect(judged.consumer.isRevoked?.()).toBe(isRevoked);
  });
});

describe('a client certificate', () => {
  const shown: ClientCertificate = {
    ...{ commonName: 'acme', dnsNames: ['a.example'], uris: ['spiffe://a/b'], fingerprint: 'ab', ends: NOW },
  };
  const judge = (now: number, clientCertificate = shown, consumer: CertificatePlace = 'cn') =>
    createCertificateAuthenticator(
      { kind: 'certificate', name: 'mtls', consumer, scopes: [] },
      () => now,
    ).judge({ headers: new RecordFields(), clientCertificate });

  it.each<[CertificatePlace, Partial<ClientCertificate>, string | undefined]>([
    ['cn', {}, 'acme'],
    ['cn', { commonName: undefined }, undefined],
    ['cn', { commonName: 'acme\nX-Admin: 1' }, undefined],
    ['san_dns', {}, 'a.example'],
    ['san_dns', { dnsNames: ['a.example', 'b.example'] }, undefined],
    ['san_dns', { dnsNames: [] }, undefined],
    ['san_uri', {}, 'spiffe://a/b'],
    ['san_uri', { uris: ['spiffe://a/b', 'spiffe://a/c'] }, undefined],
    ['fingerprint', {}, 'ab'],
  ])('identified by its %s, with %j, is %s', async (place, changes, id) => {
    const outcome = await judge(NOW - 1, { ...shown, ...changes }, place);
    expect(outcome.kind === 'consumer' ? outcome.consumer.id : undefined).toBe(id);
  });

  it('is accepted for its connection only until it expires', () => {
    expect(judge(NOW - 1)).toMatchObject({ kind: 'consumer', consumer: { id: 'acme', via: 'certificate' } });
    expect(judge(NOW)).toEqual({ kind: 'refused', refusal: { reason: 'certificate_invalid' } });
  });
});
