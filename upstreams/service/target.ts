// Parses the path of a request: the collection, one item, or an action on an item.
import type { Collection } from './collection-contract.ts';
import type { Key } from './records.ts';

export type Target =
  | { readonly kind: 'whole' }
  | { readonly kind: 'item'; readonly key: Key }
  | { readonly kind: 'action'; readonly key: Key; readonly name: string };

/** Undefined if the resource does not exist. Ids need no escaping and have one spelling only. */
export function parseTarget<Item>(
  { path: whole, keyOf, records, writing }: Collection<Item>,
  path: string,
): Target | undefined {
  if (path === whole) return { kind: 'whole' };
  const [before, id = '', name, more] = path.slice(whole.length).split('/');
  if (!path.startsWith(whole) || before !== '' || more !== undefined) return undefined;
  const key = keyOf(id);
  if (key === undefined || records.find(key) === undefined) return undefined;
  if (name === undefined) return { kind: 'item', key };
  return writing !== undefined && Object.hasOwn(writing.actions, name)
    ? { kind: 'action', key, name }
    : undefined;
}
