// Method and path to the rules of one operation: a tree of path segments per version, built once per plan.
// Asked once per reading of a request's path, right after the version is known.
import type { OperationTemplate } from '../policy/lifecycle/operation-template.ts';
import { decodedOctets } from '../policy/octets.ts';
import { type Letters, lettersOf, namesOf, type ReadPath } from '../policy/paths/reading.ts';
import { literalReading } from '../policy/paths/rules.ts';

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
  /** The operations that the path means in one reading; several only by differences in case. */
  readonly reached: (method: string, path: ReadPath) => readonly OperationMatch<T>[];
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  /** Of the literals. */
  readonly lengths: Set<number>;
  longest: number;
  parameter: Node<T> | undefined;
  readonly byMethod: Map<string, Operation<T>[]>;
}

interface Operation<T> {
  readonly rules: T;
  /** The names in its template; undefined for a parameter. */
  readonly names: readonly (string | undefined)[];
}

interface Found<T> extends OperationMatch<T> {
  /** Every name has the letters of the path. */
  readonly isSpelled: boolean;
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

/** Returns all operations at the method and path of `template`. */
function insert<T>(
  root: Node<T>,
  { method, segments }: OperationTemplate,
  rules: T,
  letters: Letters,
): readonly Operation<T>[] {
  let node = root;
  const names = segments.map((each) => (each.kind === 'literal' ? decodedOctets(each.text) : undefined));
  for (const name of names)
    node = name === undefined ? parameterOf(node) : literalOf(node, lettersOf(name, letters));
  const there = node.byMethod.get(method) ?? [];
  node.byMethod.set(method, there);
  there.push({ rules, names });
  return there;
}

function find<T>(
  node: Node<T>,
  method: string,
  path: ReadPath,
  depth: number,
  captures: readonly string[],
): readonly Found<T>[] {
  const segment = path.segments[depth];
  if (segment === undefined) {
    const operations =
      node.byMethod.get(method) ??
      (method === 'HEAD' ? node.byMethod.get('GET') : undefined) ??
      node.byMethod.get('*') ??
      [];
    return operations.map(({ rules, names }) => ({ rules, captures, isSpelled: isSpelled(names, path) }));
  }
  const found: Found<T>[] = [];
  if (node.literals.size > 0) {
    for (const name of namesOf(path, depth, node)) {
      const literal = node.literals.get(name);
      if (literal === undefined) continue;
      found.push(...find(literal, method, path, depth + 1, captures));
      if (found.length > 0) break;
    }
  }
  // A route that tells case apart passes the request on to the next one.
  if (node.parameter === undefined || found.some((each) => each.isSpelled)) return found;
  return [...found, ...find(node.parameter, method, path, depth + 1, [...captures, segment])];
}

function isSpelled(names: readonly (string | undefined)[], path: ReadPath): boolean {
  const { reader } = path;
  if (!reader.mixesCase || reader.letters === 'exact') return true;
  const exact = { ...path, reader: { ...reader, letters: 'exact' as const } };
  return names.every(
    (name, depth) =>
      name === undefined ||
      namesOf(exact, depth, { lengths: undefined, longest: name.length }).includes(name),
  );
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
