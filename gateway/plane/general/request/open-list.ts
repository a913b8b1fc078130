// What is open at the moment, for sweeps: slow readers and slow bodies.
// No Map or Set: V8 links each outgrown table of those to the next one, so that whatever comes and goes survives the collections of young objects.

export interface Listed {
  /** Where it stands in the list; negative once it has been removed. */
  place: number;
}

export interface OpenList<T extends Listed> {
  readonly add: (one: T) => void;
  readonly remove: (one: T) => void;
  /** Calls `look` for each; it may remove any. */
  readonly sweep: (look: (one: T) => void) => void;
}

export function createOpenList<T extends Listed>(): OpenList<T> {
  const all: T[] = [];
  return {
    add(one) {
      one.place = all.length;
      all.push(one);
    },
    remove(one) {
      const { place } = one;
      if (place < 0) return;
      one.place = -1;
      const last = all.pop();
      if (last === undefined || last === one) return;
      all[place] = last;
      last.place = place;
    },
    sweep(look) {
      for (const one of all.slice()) if (one.place >= 0) look(one);
    },
  };
}
