// The list of open items: a sweep visits each item once, although some are removed during the sweep.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createOpenList } from '../../gateway/plane/slow-clients.ts';
import { fuzz } from '../support/fuzz.ts';

it('a sweep visits each item once that was added and not removed', async () => {
  const step = fc.record({ isAdded: fc.boolean(), which: fc.nat(9) });
  const property = fc.property(fc.array(step), fc.array(fc.nat(9)), (steps, removedInSweep) => {
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
    const sweep = (look: (one: (typeof all)[number]) => void): readonly number[] => {
      const swept: number[] = [];
      list.sweep((one) => {
        swept.push(one.name);
        look(one);
      });
      return swept.toSorted();
    };
    const first = sweep((one) => {
      if (removedInSweep.includes(one.name)) list.remove(one);
    });
    expect(first).toEqual([...model].toSorted());
    const left = first.filter((name) => !removedInSweep.includes(name));
    expect(sweep(() => undefined)).toEqual(left);
  });
  await fuzz(property, 2_000);
});
