// A map of bounded size that evicts its older half at once.

export interface RecentMap<Value> {
  readonly get: (key: string) => Value | undefined;
  readonly set: (key: string, value: Value) => void;
  readonly clear: () => void;
}

/** Bounds the number of entries and the total length of their keys. */
export function createRecentMap<Value>(entries: number, characters: number): RecentMap<Value> {
  let recent = new Map<string, Value>();
  let older = new Map<string, Value>();
  let characterCount = 0;

  function evictOlder(formerHalf: Map<string, Value>): void {
    older = formerHalf;
    recent = new Map();
    characterCount = 0;
  }

  return {
    get: (key) => recent.get(key) ?? older.get(key),
    set(key, value) {
      if (!recent.has(key)) {
        if (recent.size >= entries / 2 || characterCount + key.length > characters / 2) evictOlder(recent);
        characterCount += key.length;
      }
      recent.set(key, value);
    },
    clear: () => evictOlder(new Map()),
  };
}
