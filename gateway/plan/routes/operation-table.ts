// Finds the operation of a method and path: a tree of path segments per version, built once per plan.
import type { OperationTemplate } from '../../policy/lifecycle/operation-template.ts';
import { decodedOctets } from '../../policy/octets.ts';
import type { ReadPath } from '../../policy/paths/reading.ts';
import { literalReading } from '../../policy/paths/rules.ts';
import {
  addNode,
  createNodesByName,
  type Matches,
  matchesBelow,
  NO_MATCHES,
  type NodesByName,
} from './nodes-by-name.ts';

export interface OperationMatch<T> {
  readonly rules: T;
  /** Raw segments at the parameters, in the order of the template. */
  readonly captures: readonly string[];
}

export interface OperationTable<T> {
  readonly list: readonly T[];
  /** For the path as written. Literal segments win over parameters. For HEAD: HEAD wins over GET, GET over `*`. */
  readonly match: (method: string, tail: string) => OperationMatch<T> | undefined;
  /** The operations that any reader of the path finds. */
  readonly reached: (method: string, path: ReadPath) => Matches<OperationMatch<T>>;
}

interface Node<T> extends NodesByName<Node<T>> {
  parameter: Node<T> | undefined;
  readonly byMethod: Map<string, T>;
}

/** @throws RangeError if two operations have the same method and path; checks exclude that */
export function createOperationTable<T>(
  operations: readonly { readonly template: OperationTemplate; readonly rules: T }[],
): OperationTable<T> {
  const root = createNode<T>();
  const deepest = Math.max(0, ...operations.map(({ template }) => template.segments.length));
  for (const { template, rules } of operations) insert(root, template, rules);
  return {
    list: operations.map(({ rules }) => rules),
    match: (method, tail) => find(root, method, literalReading(tail), 0, [], false).matches[0],
    reached: (method, path) =>
      path.segments.length > deepest ? NO_MATCHES : find(root, method, path, 0, [], false),
  };
}

function insert<T>(root: Node<T>, { method, segments }: OperationTemplate, rules: T): void {
  let node = root;
  for (const segment of segments)
    node = segment.kind === 'literal' ? literalOf(node, decodedOctets(segment.text)) : parameterOf(node);
  if (node.byMethod.has(method)) throw new RangeError('two operations at one method and path');
  node.byMethod.set(method, rules);
}

/**
 * A reader tries the parameter only if the literal leads to no match. `isFolded`: the path matches only without case.
 * The service may then use a router that minds case for the literal, and another one for the parameter.
 */
function find<T>(
  node: Node<T>,
  method: string,
  path: ReadPath,
  depth: number,
  captures: readonly string[],
  isFolded: boolean,
): Matches<OperationMatch<T>> {
  const segment = path.segments[depth];
  if (segment === undefined) {
    const rules =
      node.byMethod.get(method) ??
      (method === 'HEAD' ? node.byMethod.get('GET') : undefined) ??
      node.byMethod.get('*');
    return rules === undefined ? NO_MATCHES : { matches: [{ rules, captures }], byAll: true };
  }
  const literal =
    node.lengths.length === 0
      ? NO_MATCHES
      : matchesBelow(
          path,
          depth,
          node.lengths,
          (name, letters) => node.byName[letters].get(name),
          (next, folds) => find(next, method, path, depth + 1, captures, isFolded || folds),
        );
  if ((literal.byAll && !isFolded) || node.parameter === undefined) return literal;
  const { matches, byAll } = find(node.parameter, method, path, depth + 1, [...captures, segment], isFolded);
  return { matches: [...literal.matches, ...matches], byAll: literal.byAll || byAll };
}

function createNode<T>(): Node<T> {
  return { ...createNodesByName<Node<T>>(), parameter: undefined, byMethod: new Map() };
}

function literalOf<T>(node: Node<T>, name: string): Node<T> {
  const [known] = node.byName.exact.get(name) ?? [];
  return known ?? addNode(node, name, createNode());
}

function parameterOf<T>(node: Node<T>): Node<T> {
  node.parameter ??= createNode();
  return node.parameter;
}
