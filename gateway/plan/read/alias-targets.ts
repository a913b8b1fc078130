// Finds the target of every alias in a YAML tree: the last node above it with its anchor.
import { type Alias, type Document, isAlias, isMap, isNode, isSeq, type Node } from 'yaml';

/** Omits aliases without a target. Not recursive, so that deep nesting cannot overflow the stack. */
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
    // A stack: pushed in reverse, to visit in order.
    if (isSeq(node)) for (const item of node.items.toReversed()) left.push(item);
    if (isMap(node)) for (const { key, value } of node.items.toReversed()) left.push(value, key);
  }
  return targets;
}
