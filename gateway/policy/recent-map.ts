// A map of bounded size that evicts its older half at once.

export interface RecentMap<Value> {
  readonly get: (key: string) => Value | undefined;
  readonly set: (key: string, value: Value) => void;
  readonly clear: () => void;
}

/** Bounds the number of entries and the total length of their keys. */
export function createRecentMap<Value>(entries: number, characters: number): RecentMap<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let written = 0;

  function startHalf(formerHalf: Map<string, Value>): void {
    old = formerHalf;
    young = new Map();
    written = 0;
  }

  return {
    get: (key) => young.get(key) ?? old.get(key),
    set(key, value) {
      if (!young.has(key)) {
        if (young.size >= entries / 2 || written + key.length > characters / 2) startHalf(young);
        written += key.length;
      }
      young.set(key, value);
    },
    clear: () => startHalf(new Map()),
  };
}
