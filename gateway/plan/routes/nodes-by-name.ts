// Child nodes in a tree of path segments, by the names that readers compare.
import { LETTERS, type Letters, lettersOf, namesOf, type ReadPath } from '../../policy/paths/reading.ts';

export interface NodesByName<N> {
  readonly byName: Readonly<Record<Letters, Map<string, readonly N[]>>>;
  /** Lengths of the names, longest first. */
  lengths: readonly number[];
}

export interface Matches<M> {
  readonly matches: readonly M[];
  /** Whether each reader finds a match. */
  readonly byAll: boolean;
}

const NO_NODES: readonly never[] = [];
export const NO_MATCHES: Matches<never> = { matches: [], byAll: false };

export function createNodesByName<N>(): NodesByName<N> {
  return { byName: { exact: new Map(), ascii: new Map(), unicode: new Map() }, lengths: [] };
}

/** `name` is decoded. Returns `node`. */
export function addNode<N>(nodes: NodesByName<N>, name: string, node: N): N {
  for (const letters of LETTERS) {
    const index = nodes.byName[letters];
    const text = lettersOf(name, letters);
    index.set(text, [...(index.get(text) ?? []), node]);
    nodes.lengths = [...new Set([...nodes.lengths, text.length])].sort((a, b) => b - a);
  }
  return node;
}

/**
 * The matches of the readers of `path` from its segment at `depth` on. `isFolded`: the name as written does not
 * match. A reader that ignores suffixes tries shorter names until one matches. Calls `find` once per node.
 */
export function matchesBelow<N, M>(
  path: ReadPath,
  depth: number,
  lengths: readonly number[],
  nextOf: (name: string, letters: Letters) => readonly N[] | undefined,
  find: (next: N, isFolded: boolean) => Matches<M>,
): Matches<M> {
  const isLast = depth === path.segments.length - 1;
  const [literal] = path.readers.letters;
  const visited = new Map<N, Matches<M>>();
  const isFound = (name: string, letters: Letters): boolean => {
    let isFoundByAll = false;
    for (const next of nextOf(name, letters) ?? NO_NODES) {
      let found = visited.get(next);
      if (found === undefined) {
        found = find(next, letters !== literal);
        visited.set(next, found);
      }
      isFoundByAll ||= found.byAll;
    }
    return isFoundByAll;
  };
  let byAll = true;
  const names = namesOf(path, depth);
  for (const { text, letters, ignoresSuffix } of names) {
    let isFoundByAll = isFound(text, letters);
    if (ignoresSuffix && isLast) {
      const isAsWritten = names.some((each) => each.letters === literal && each.text === text);
      for (const length of lengths) {
        // A router that minds case finds no folded name, but the service may have another router for a shorter name.
        if (isFoundByAll && isAsWritten) break;
        if (text.charAt(length) === '.' && isFound(text.slice(0, length), letters)) isFoundByAll = true;
      }
    }
    byAll &&= isFoundByAll;
    if (path.isLiteral) break;
  }
  if (visited.size === 0) return NO_MATCHES;
  const matches: M[] = [];
  for (const found of visited.values()) matches.push(...found.matches);
  return { matches, byAll };
}
