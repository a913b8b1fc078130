// Stored idempotency records that this release cannot read: their requests are not carried out again.
import { expect, it } from 'vitest';
import { createIdempotencyStore, writeAnswer } from '../../gateway/stores/idempotency-records.ts';
import { answerOf } from './idempotency-store.ts';

const sound = JSON.parse(writeAnswer(answerOf()));

it('IDM-6: an unreadable stored outcome counts as unknown, and is reported once', async () => {
  const faults: unknown[] = [];
  const storeWith = (record: string | undefined) => {
    const texts = { claim: async () => ({ state: 'kept', record }) as const, settle: async () => true };
    return createIdempotencyStore(texts, (error) => faults.push(error));
  };
  for (const record of [
    ...[undefined, '', 'v2:abc', '[]', 'null', JSON.stringify({ answer: sound })],
    ...[{ status: 600 }, { headers: [1] }, { body: null }].map((more) =>
      JSON.stringify({ ...sound, ...more }),
    ),
  ]) {
    faults.length = 0;
    const { claim } = storeWith(record);
    for (const owner of ['a', 'b']) expect(await claim('k', owner, 1)).toEqual({ kind: 'unknown' });
    expect(faults).toHaveLength(1);
  }
  const { claim } = storeWith(JSON.stringify({ ...sound, more: 1 }));
  expect(await claim('k', 'a', 1)).toEqual({ kind: 'kept', answer: answerOf() });
});
