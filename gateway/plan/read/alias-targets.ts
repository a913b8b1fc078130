// What every alias of a YAML tree means: the node above it that has its anchor.
import { type Alias, type Document, isAlias, isMap, isNode, isSeq, type Node } from 'yaml';

/** An alias without a node above it is missing. Without recursion, so that no nesting is too deep. */
export function aliasTargets(tree: Document): ReadonlyMap<Alias, Node> {
  const targets = new Map<Alias, Node>();
  const anchored = new Map<string, Node>();
  const left: unknown[] = [tree.contents];
  while (left.length > 0) {
    const node = left.pop();
    if (isAlias(node)) {
      const target = anchored.get(node.source);
      if (target !== undefined) targets.set(node, target);
      continue;
    }
    if (!isNode(node)) continue;
    if (node.anchor !== undefined) anchored.set(node.anchor, node);
    // The last in is the first out.
    if (isSeq(node)) for (const item of node.items.toReversed()) left.push(item);
    if (isMap(node)) for (const { key, value } of node.items.toReversed()) left.push(value, key);
  }
  return targets;
}
