// The representation of an item in one edition: fields, links and validators, for reads and for responses to writes.
import type { JsonObject } from './body.ts';
import type { Collection, ItemLink } from './collection-contract.ts';
import type { StoredItem } from './records.ts';
import { tagOf, type Validators } from './validators.ts';

/** The path from which links are relative, so that they work under any path that a gateway gives the collection. */
export type LinkBase = 'item' | 'collection' | 'action';

export function represent<Item>(
  { path, idOf, edition }: Collection<Item>,
  { key, item }: StoredItem<Item>,
  linkBase: LinkBase,
  fields?: readonly string[],
): JsonObject {
  const id = idOf(key);
  const shown = edition.show(id, item);
  const links = edition.links?.(item);
  const whole =
    links === undefined ? shown : { ...shown, _links: linksFrom(path.slice(1), id, links, linkBase) };
  return fields === undefined
    ? whole
    : Object.fromEntries(Object.entries(whole).filter(([name]) => fields.includes(name)));
}

/** Validators of the whole item as GET returns it, whatever the request selects. */
export function validatorsOf<Item>(collection: Collection<Item>, kept: StoredItem<Item>): Validators {
  return { etag: tagOf(JSON.stringify(represent(collection, kept, 'item'))), lastModified: kept.changed };
}

function linksFrom(
  name: string,
  id: string,
  links: Readonly<Record<string, ItemLink>>,
  linkBase: LinkBase,
): JsonObject {
  const bases = {
    item: { item: id, collection: `../${name}` },
    collection: { item: `${name}/${id}`, collection: name },
    action: { item: `../${id}`, collection: `../../${name}` },
  } as const;
  const base = bases[linkBase];
  const hrefOf = (link: ItemLink) => (link.to === 'action' ? `${base.item}/${link.name}` : base[link.to]);
  return Object.fromEntries(
    Object.entries(links).map(([relation, link]) => {
      const method = link.to === 'action' ? 'POST' : link.method;
      return [relation, { href: hrefOf(link), ...(method === undefined ? {} : { method }) }];
    }),
  );
}
