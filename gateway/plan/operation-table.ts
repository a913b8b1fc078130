// Method and path to the rules of one operation: a tree of path segments per version, built once per plan.
// Asked once per reading of a request's path, right after the version is known.
import type { OperationTemplate } from '../policy/lifecycle/operation-template.ts';
import { decodedOctets } from '../policy/octets.ts';
import { type Letters, lettersOf, literalReading, namesOf, type ReadPath } from '../policy/paths/rules.ts';

export interface OperationMatch<T> {
  readonly rules: T;
  /** Raw segments at the parameters, in the order of the template. */
  readonly captures: readonly string[];
}

export interface OperationTable<T> {
  /** In the order written. */
  readonly list: readonly T[];
  /**
   * The operation that a path means literally. A literal segment wins over a parameter. For HEAD, an operation for HEAD wins over
   * one for GET; both win over `*`.
   */
  readonly match: (method: string, tail: string) => OperationMatch<T> | undefined;
  /** The operations that the path means in one reading; several only if their templates differ only in case. */
  readonly reached: (method: string, path: ReadPath) => readonly OperationMatch<T>[];
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  /** Of the literals. */
  readonly lengths: Set<number>;
  longest: number;
  parameter: Node<T> | undefined;
  readonly byMethod: Map<string, T[]>;
}

/** @throws RangeError when two operations answer the same requests, which a checked plan does not have */
export function createOperationTable<T>(
  operations: readonly { readonly template: OperationTemplate; readonly rules: T }[],
): OperationTable<T> {
  const roots = { exact: createNode<T>(), ascii: createNode<T>(), unicode: createNode<T>() };
  const deepest = Math.max(0, ...operations.map(({ template }) => template.segments.length));
  for (const { template, rules } of operations) {
    const [only, ...more] = insert(roots.exact, template, rules, 'exact');
    if (only === undefined || more.length > 0) throw new RangeError('two operations at one method and path');
    insert(roots.ascii, template, rules, 'ascii');
    insert(roots.unicode, template, rules, 'unicode');
  }
  return {
    list: operations.map(({ rules }) => rules),
    match: (method, tail) => find(roots.exact, method, literalReading(tail), 0, [])[0],
    reached: (method, path) =>
      path.segments.length > deepest ? [] : find(roots[path.reader.letters], method, path, 0, []),
  };
}

/** Returns all rules at the method and path of `template`. */
function insert<T>(
  root: Node<T>,
  { method, segments }: OperationTemplate,
  rules: T,
  letters: Letters,
): readonly T[] {
  let node = root;
  for (const segment of segments)
    node =
      segment.kind === 'literal'
        ? literalOf(node, lettersOf(decodedOctets(segment.text), letters))
        : parameterOf(node);
  const there = node.byMethod.get(method) ?? [];
  node.byMethod.set(method, there);
  there.push(rules);
  return there;
}

function find<T>(
  node: Node<T>,
  method: string,
  path: ReadPath,
  depth: number,
  captures: readonly string[],
): readonly OperationMatch<T>[] {
  const segment = path.segments[depth];
  if (segment === undefined) {
    const rules =
      node.byMethod.get(method) ??
      (method === 'HEAD' ? node.byMethod.get('GET') : undefined) ??
      node.byMethod.get('*') ??
      [];
    return rules.map((each) => ({ rules: each, captures }));
  }
  if (node.literals.size > 0) {
    for (const name of namesOf(path, depth, node)) {
      const literal = node.literals.get(name);
      const found = literal === undefined ? [] : find(literal, method, path, depth + 1, captures);
      if (found.length > 0) return found;
    }
  }
  if (node.parameter === undefined) return [];
  return find(node.parameter, method, path, depth + 1, [...captures, segment]);
}

function createNode<T>(): Node<T> {
  return { literals: new Map(), lengths: new Set(), longest: 0, parameter: undefined, byMethod: new Map() };
}

function literalOf<T>(node: Node<T>, name: string): Node<T> {
  const known = node.literals.get(name);
  if (known !== undefined) return known;
  const made = createNode<T>();
  node.literals.set(name, made);
  node.lengths.add(name.length);
  node.longest = Math.max(node.longest, name.length);
  return made;
}

function parameterOf<T>(node: Node<T>): Node<T> {
  node.parameter ??= createNode();
  return node.parameter;
}
