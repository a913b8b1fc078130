// Lookups of host names: old results are looked up again, and kept if the lookup fails.
import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { createNameLookup, type FindAddresses } from '../../gateway/upstream/name-lookup.ts';

const V4 = (address: string): LookupAddress => ({ address, family: 4 });

function resolver(...answers: (readonly LookupAddress[] | Error)[]) {
  let lookups = 0;
  const find: FindAddresses = (_name, callback) => {
    const answer = answers[Math.min(lookups, answers.length - 1)] ?? [];
    lookups += 1;
    queueMicrotask(() => (answer instanceof Error ? callback(answer, []) : callback(null, answer)));
  };
  return { find, lookups: () => lookups };
}

const look = (names: ReturnType<typeof createNameLookup>, options = { all: true }) =>
  new Promise<unknown>((resolve, reject) =>
    names.lookup('orders.internal', options, (error, address) =>
      error === null ? resolve(address) : reject(error),
    ),
  );

describe('a host name', () => {
  it('is looked up once while its result is valid, also for concurrent callers', async () => {
    const { find, lookups } = resolver([V4('10.0.0.1')]);
    const names = createNameLookup({ find, maxAgeMs: 60_000 });
    await Promise.all([look(names), look(names)]);
    expect(await look(names)).toEqual([V4('10.0.0.1')]);
    expect(lookups()).toBe(1);
  });

  it('is looked up again when its result is too old', async () => {
    const { find } = resolver([V4('10.0.0.1')], [V4('10.0.0.2')]);
    const names = createNameLookup({ find, maxAgeMs: -1 });
    await look(names);
    expect(await look(names)).toEqual([V4('10.0.0.2')]);
  });

  it('is looked up again after a failed connection', async () => {
    const { find } = resolver([V4('10.0.0.1')], [V4('10.0.0.2')]);
    const names = createNameLookup({ find, maxAgeMs: 60_000 });
    await look(names);
    names.invalidate('orders.internal');
    expect(await look(names)).toEqual([V4('10.0.0.2')]);
  });

  it.each([[new Error('SERVFAIL')], [[]]])('keeps its last result if the next is %o', async (nothing) => {
    const { find } = resolver([V4('10.0.0.1')], nothing);
    const names = createNameLookup({ find, maxAgeMs: -1 });
    await look(names);
    expect(await look(names)).toEqual([V4('10.0.0.1')]);
    expect(await names.renew('orders.internal')).toEqual([V4('10.0.0.1')]);
  });

  it('without a result is an error', async () => {
    const { find } = resolver(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    const names = createNameLookup({ find, maxAgeMs: 60_000 });
    await expect(look(names)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(await names.renew('orders.internal')).toBeUndefined();
  });

  it.each([
    [{ all: false }, '10.0.0.1'],
    [{ all: false, family: 6 }, '::1'],
    [{ all: true, family: 6 }, [{ address: '::1', family: 6 }]],
    [{ all: true, family: 4 }, [V4('10.0.0.1')]],
  ])('with options %j resolves to %j', async (options, expected) => {
    const { find } = resolver([V4('10.0.0.1'), { address: '::1', family: 6 }]);
    expect(await look(createNameLookup({ find, maxAgeMs: 60_000 }), options)).toEqual(expected);
  });
});
