// Method and tail to the rules of one operation: a tree of path segments per version, built once per plan.
// Asked right after the version is known; a version without operations has no table.
import type { OperationTemplate } from '../policy/lifecycle/operation-template.ts';

export interface OperationMatch<T> {
  readonly rules: T;
  /** Raw segments at the parameters, in the order of the template. */
  readonly captures: readonly string[];
}

export interface OperationTable<T> {
  /** In the order written. */
  readonly list: readonly T[];
  /**
   * The operation a request means; a literal segment wins over a parameter, a named method over GET for HEAD, and both
   * over `*`. Empty segments count for nothing, so that no spelling of a path escapes the rules for it.
   */
  readonly match: (method: string, tail: string) => OperationMatch<T> | undefined;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  readonly byMethod: Map<string, T>;
}

/** @throws RangeError when two operations answer the same requests, which a checked plan does not have */
export function createOperationTable<T>(
  operations: readonly { readonly template: OperationTemplate; readonly rules: T }[],
): OperationTable<T> {
  const root = createNode<T>();
  for (const { template, rules } of operations) {
    let node = root;
    for (const segment of template.segments)
      node = segment.kind === 'literal' ? literalOf(node, segment.text) : parameterOf(node);
    if (node.byMethod.has(template.method)) throw new RangeError('two operations at one method and path');
    node.byMethod.set(template.method, rules);
  }
  return {
    list: operations.map(({ rules }) => rules),
    match: (method, tail) => {
      const segments = tail.split('/').filter((segment) => segment !== '');
      return find(root, method, segments, 0, []);
    },
  };
}

function find<T>(
  node: Node<T>,
  method: string,
  segments: readonly string[],
  depth: number,
  captures: readonly string[],
): OperationMatch<T> | undefined {
  const segment = segments[depth];
  if (segment === undefined) {
    const rules =
      node.byMethod.get(method) ??
      (method === 'HEAD' ? node.byMethod.get('GET') : undefined) ??
      node.byMethod.get('*');
    return rules && { rules, captures };
  }
  const literal = node.literals.get(segment);
  const found = literal && find(literal, method, segments, depth + 1, captures);
  if (found !== undefined || node.parameter === undefined) return found;
  return find(node.parameter, method, segments, depth + 1, [...captures, segment]);
}

function createNode<T>(): Node<T> {
  return { literals: new Map(), parameter: undefined, byMethod: new Map() };
}

function literalOf<T>(node: Node<T>, text: string): Node<T> {
  const known = node.literals.get(text);
  if (known !== undefined) return known;
  const made = createNode<T>();
  node.literals.set(text, made);
  return made;
}

function parameterOf<T>(node: Node<T>): Node<T> {
  node.parameter ??= createNode();
  return node.parameter;
}
