// Merges inherited limits into each version for `config show`, with the source of each value.

import type { Path } from '../../plan/read/document.ts';
import { keysOf, pointer, valueAt } from '../../plan/read/values.ts';
import { DEFAULT_LIMIT } from '../../policy/rate-limit/lowering.ts';
import type { EffectiveValues } from '../section.ts';

interface Limit {
  readonly name: string;
  readonly at: Path;
  readonly keys: readonly string[];
}

export function effectiveLimits(values: unknown): EffectiveValues {
  const ofApi = limitsAt(values, ['limits']);
  const moved = new Map<string, Path>();
  const versions = Object.fromEntries(
    keysOf(valueAt(values, ['versions'])).map((label) => {
      const at: Path = ['versions', label];
      const version = valueAt(values, at);
      const own = valueAt(values, [...at, 'limits']);
      if (ofApi.length === 0 || own === 'off' || typeof version !== 'object') return [label, version];
      const section: Path = [...at, 'limits'];
      const merged = merge(ofApi, limitsAt(values, section));
      const [only] = merged;
      const isOne = merged.length === 1 && only?.name === DEFAULT_LIMIT;
      const shown = merged.map(({ keys }, index) =>
        Object.fromEntries(
          [...keys].map(([key, from]) => {
            moved.set(pointer(isOne ? [...section, key] : [...section, index, key]), from);
            return [key, valueAt(values, from)];
          }),
        ),
      );
      return [label, { ...version, limits: isOne ? shown[0] : shown }];
    }),
  );
  if (moved.size === 0 || typeof values !== 'object') return { values, real: (path) => path };
  const real = (path: Path): Path => {
    for (let length = path.length; length > 0; length -= 1) {
      const from = moved.get(pointer(path.slice(0, length)));
      if (from !== undefined) return [...from, ...path.slice(length)];
    }
    return path;
  };
  return { values: { ...values, versions }, real };
}

interface Merged {
  readonly name: string;
  /** The path of each value. */
  readonly keys: ReadonlyMap<string, Path>;
}

function merge(whole: readonly Limit[], own: readonly Limit[]): readonly Merged[] {
  const names = new Set([...whole, ...own].map(({ name }) => name));
  return [...names].map((name) => {
    const mine = own.find((each) => each.name === name);
    const inherited = whole.find((each) => each.name === name);
    const placesOf = (limit: Limit | undefined) =>
      (limit?.keys ?? []).map((key) => [key, [...(limit?.at ?? []), key]] as const);
    // A burst belongs to the rate of its own level.
    const taken = placesOf(inherited).filter(([key]) => key !== 'burst' || !mine?.keys.includes('rate'));
    return { name, keys: new Map<string, Path>([...taken, ...placesOf(mine)]) };
  });
}

function limitsAt(values: unknown, section: Path): readonly Limit[] {
  const written = valueAt(values, section);
  const items = Array.isArray(written) ? written.map((_, index): Path => [...section, index]) : [section];
  return items.flatMap((at) => {
    const keys = keysOf(valueAt(values, at));
    return keys.length === 0
      ? []
      : [{ name: String(valueAt(values, [...at, 'name']) ?? DEFAULT_LIMIT), at, keys }];
  });
}
