// Unreadable stored pins: their accounts count as not pinned and can be pinned again.
import { describe, expect, it } from 'vitest';
import { createPinRecords, type PinTexts, writePin } from '../../gateway/stores/pin-records.ts';
import { pinOf } from './pin-store.ts';

const PIN = pinOf('2026-06-01');
const OTHER = pinOf('2025-09-15');

/** An in-memory store with `standing` at every key; `onReplace` runs before a text is replaced. */
function storing(standing: string | undefined, onReplace = (_texts: Map<string, string>): void => undefined) {
  const kept = new Map<string, string>(standing === undefined ? [] : [['key', standing]]);
  const reported: string[] = [];
  const texts: PinTexts = {
    find: async (key) => kept.get(key),
    claim: async (key, text) => {
      if (!kept.has(key)) kept.set(key, text);
      return kept.get(key) ?? text;
    },
    replace: async (key, current, next) => {
      onReplace(kept);
      if (kept.get(key) !== current) return false;
      if (next === undefined) kept.delete(key);
      else kept.set(key, next);
      return true;
    },
  };
  return { kept, reported, records: createPinRecords(texts, (error) => reported.push(String(error))) };
}

const REPORTED = ['TypeError: a stored pin is unreadable; its account counts as not pinned'];

describe.each([
  ['a text that is not JSON', 'garbage'],
  ['an empty text', ''],
  ['a list', '[]'],
  ['a label alone', '"2026-06-01"'],
  ['an invalid version label', writePin(pinOf('banana'))],
  ['an unknown origin', writePin(PIN).replace('first_call', 'gift')],
  ['an invalid instant', writePin({ ...PIN, since: 9e15 })],
])('%s stored as a pin', (_what, rubbish) => {
  it('counts as no pin, and is reported once', async () => {
    const { records, reported } = storing(rubbish);
    expect(await records.find('key')).toBeUndefined();
    expect(await records.find('key')).toBeUndefined();
    expect(reported).toEqual(REPORTED);
  });

  it('is replaced by the first claim', async () => {
    const { records, kept, reported } = storing(rubbish);
    expect(await records.claim('key', PIN)).toEqual(PIN);
    expect(kept.get('key')).toBe(writePin(PIN));
    expect(await records.claim('key', OTHER)).toEqual(PIN);
    expect(reported).toEqual(REPORTED);
  });

  it('is replaced by the earlier of two claims', async () => {
    const { records } = storing(rubbish, (kept) => kept.set('key', writePin(OTHER)));
    expect(await records.claim('key', PIN)).toEqual(OTHER);
  });

  it('that is stored again after each replacement makes the store unavailable', async () => {
    const { records } = storing(rubbish, (kept) => kept.set('key', `${kept.get('key')} again`));
    await expect(records.claim('key', PIN)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('is replaced when an account without a pin is moved', async () => {
    const { records, kept } = storing(rubbish);
    expect(await records.replace('key', PIN, OTHER)).toBe(false);
    expect(await records.replace('key', undefined, OTHER)).toBe(true);
    expect(kept.get('key')).toBe(writePin(OTHER));
  });
});

it('a readable pin is replaced only by a caller that knows it', async () => {
  const { records, reported } = storing(writePin(PIN));
  expect(await records.claim('key', OTHER)).toEqual(PIN);
  expect(await records.replace('key', undefined, OTHER)).toBe(false);
  expect(await records.replace('key', PIN, OTHER)).toBe(true);
  expect(await records.find('key')).toEqual(OTHER);
  expect(reported).toEqual([]);
});

it('a pin whose version was removed from the file is valid', async () => {
  const gone = pinOf('v9999');
  expect(await storing(writePin(gone)).records.find('key')).toEqual(gone);
});
