// The list of what is open: what is added and not removed is swept, each once, whatever is removed meanwhile.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createOpenList } from '../../gateway/plane/general/request/open-list.ts';
import { fuzz } from '../support/fuzz.ts';

it('holds what was added and not removed', async () => {
  const step = fc.record({ isAdded: fc.boolean(), which: fc.nat(9) });
  const property = fc.property(fc.array(step), fc.nat(9), (steps, removedInSweep) => {
    const all = Array.from({ length: 10 }, (_, name) => ({ name, place: -1 }));
    const list = createOpenList<(typeof all)[number]>();
    const model = new Set<number>();
    for (const { isAdded, which } of steps) {
      const one = all[which];
      if (one === undefined || (isAdded && model.has(which))) continue;
      if (isAdded) list.add(one);
      else list.remove(one);
      if (isAdded) model.add(which);
      else model.delete(which);
    }
    const swept: number[] = [];
    list.sweep((one) => {
      swept.push(one.name);
      const removed = all[removedInSweep];
      if (removed !== undefined && removed !== one) list.remove(removed);
    });
    const isOnly = model.size === 1;
    const expected = [...model].filter((name) => name !== removedInSweep || isOnly || swept[0] === name);
    expect(swept.toSorted()).toEqual(expected.toSorted());
  });
  await fuzz(property, 2_000);
});
