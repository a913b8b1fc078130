// The cache of API keys in front of a store that is slow, unavailable, or changed by other gateways.
import { describe, expect, it } from 'vitest';
import { revokeKey, rotateKey } from '../../gateway/policy/authentication/key-record.ts';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { createKeyCache, type KeyTexts, writeKeyRecord } from '../../gateway/stores/key-cache.ts';
import { keyRecord } from './key-store.ts';

function storeOf(...records: readonly ReturnType<typeof keyRecord>[]) {
  const texts = new Map(records.map((record) => [record.id, writeKeyRecord(record)]));
  const calls: string[] = [];
  const faults: unknown[] = [];
  const state = { away: false };
  const kept: KeyTexts = {
    find: async (id) => {
      calls.push(id);
      if (state.away) throw new StoreUnavailable('away');
      return texts.get(id);
    },
    list: async () => [...texts.values()],
    replace: async (id, current, next) => {
      if (texts.get(id) !== current) return false;
      texts.set(id, next);
      return true;
    },
  };
  const open = (bounds = {}) => createKeyCache(kept, (error) => faults.push(error), bounds);
  return { texts, calls, faults, state, open };
}

describe('the cache of API keys', () => {
  it('answers for cached keys during an outage of the store; other keys are unavailable', async () => {
    const [known, other] = [keyRecord(), keyRecord()];
    const { state, open } = storeOf(known, other);
    const keys = open();
    await keys.find(known.id);
    state.away = true;
    expect(keys.find(known.id)).toEqual({ kind: 'found', record: known });
    expect(await keys.find(other.id)).toEqual({ kind: 'away' });
    state.away = false;
    expect(await keys.find(other.id)).toEqual({ kind: 'found', record: other });
  });

  it('makes one call for a hundred concurrent finds, and caches that a key does not exist', async () => {
    const record = keyRecord();
    const { calls, open } = storeOf(record);
    const keys = open();
    await Promise.all(Array.from({ length: 100 }, () => keys.find(record.id)));
    await keys.find('000000000000');
    expect(keys.find('000000000000')).toEqual({ kind: 'unknown' });
    expect(calls).toEqual([record.id, '000000000000']);
  });

  it('evicts no real key for invented keys, and the least recently used key first', async () => {
    const [a, b, c] = [keyRecord(), keyRecord(), keyRecord()];
    const { calls, open } = storeOf(a, b, c);
    const keys = open({ mostKeys: 2, mostUnknown: 2 });
    for (const { id } of [a, b]) await keys.find(id);
    for (let made = 0; made < 10; made += 1) await keys.find(`made-up-${made}`);
    expect(keys.find(a.id)).toEqual({ kind: 'found', record: a });
    await keys.find(c.id);
    calls.length = 0;
    for (const { id } of [a, c, b]) await keys.find(id);
    expect(calls).toEqual([b.id]);
  });

  it('does not cache a read that began before the key changed', async () => {
    const record = keyRecord();
    const { texts, open } = storeOf(record);
    const keys = open();
    const early = keys.find(record.id);
    const changed = keyRecord({ id: record.id, revoked: 2000 });
    texts.set(record.id, writeKeyRecord(changed));
    keys.forget(record.id);
    await early;
    expect(await keys.find(record.id)).toEqual({ kind: 'found', record: changed });
  });

  it('an unreadable key authenticates no caller and is reported once', async () => {
    const { texts, faults, open } = storeOf();
    const keys = open();
    const sound = JSON.parse(writeKeyRecord(keyRecord({ id: 'x' })));
    const broken = [
      'no JSON',
      '[]',
      'null',
      JSON.stringify({ ...sound, secrets: [{ digest: 1 }] }),
      JSON.stringify({ ...sound, revoked: 'yes' }),
      JSON.stringify({ ...sound, scopes: 'all' }),
    ];
    for (const [index, text] of broken.entries()) {
      texts.set(`k${index}`, text);
      expect(await keys.find(`k${index}`)).toEqual({ kind: 'unknown' });
    }
    expect(faults).toHaveLength(1);
    expect(await keys.list()).toEqual([]);
  });

  it('fields of another release survive a rotation and do not prevent a revocation', async () => {
    const { texts, open } = storeOf();
    const keys = open();
    const { secrets, ...written } = JSON.parse(writeKeyRecord(keyRecord({ id: 'x' })));
    const networks = ['192.0.2.0/24'];
    texts.set('x', JSON.stringify({ networks, secrets: [{ ...secrets[0], made: 1 }], ...written }));
    const standing = async () => {
      const record = await keys.read('x');
      if (record === undefined || record === 'unreadable') throw new Error('no record');
      return record;
    };
    const first = await standing();
    const times = { now: 2000, overlapMs: 1000 };
    expect(await keys.replace(first, rotateKey(first, 'ab', times))).toBe(true);
    expect(JSON.parse(texts.get('x') ?? '')).toMatchObject({
      networks,
      secrets: [{ digest: 'ab' }, { ...secrets[0], made: 1, until: 3000 }],
    });
    expect(await keys.replace(first, revokeKey(first, 2500))).toBe(false);
    expect(await keys.replace(await standing(), revokeKey(await standing(), 2500))).toBe(true);
    expect(await keys.find('x')).toMatchObject({ kind: 'found', record: { revoked: 2500, rotated: 2000 } });
  });

  it.each([
    ['no JSON', 'unknown'],
    ['{"id":"x","consumer":"acme","secrets":"of a later form","networks":[]}', 'acme'],
  ])('an unreadable key is reported as unreadable and can be revoked: %s', async (text, consumer) => {
    const { texts, open } = storeOf(keyRecord({ id: 'sound' }));
    const keys = open();
    texts.set('x', text);
    expect(await keys.find('x')).toEqual({ kind: 'unknown' });
    expect(await keys.read('x')).toBe('unreadable');
    const ended = await keys.endUnreadable('x', 2000);
    expect(ended).toMatchObject({ id: 'x', consumer, revoked: 2000, secrets: [] });
    expect(await keys.find('x')).toEqual({ kind: 'found', record: ended });
    expect(await open().list()).toContainEqual(ended);
    if (consumer === 'acme') expect(JSON.parse(texts.get('x') ?? '')).toMatchObject({ networks: [] });
    // Readable and missing keys do not change.
    for (const id of ['x', 'sound', 'nobody']) expect(await keys.endUnreadable(id, 3000), id).toBeUndefined();
  });
});
