// The contract between a service and the code that answers requests to its collection.
import type { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from './body.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';
import type { ListNames, Paging } from './list-query.ts';
import type { Outbox } from './outbox.ts';
import type { Key, Records } from './records.ts';

export type Parsed<Item> =
  | { readonly kind: 'valid'; readonly item: Item }
  | { readonly kind: 'invalid'; readonly message: string };

export interface Edition<Item> extends ListNames {
  readonly show: (id: string, item: Item) => JsonObject;
  /** Makes a whole item from the client's body. `current`: the stored item, for members that are left out. */
  readonly parse: (written: JsonObject, current: Item | undefined) => Parsed<Item>;
  /** Links of an item by relation; absent: this edition has none. */
  readonly links?: (item: Item) => Readonly<Record<string, ItemLink>>;
}

/** Leads to the item, its collection, or a sub-path of the item. */
export type ItemLink =
  | { readonly to: 'item' | 'collection'; readonly method?: string }
  | { readonly to: 'action'; readonly name: string };

export type Decision<Item> =
  /** `event`: its type; undefined: no event. */
  | { readonly kind: 'done'; readonly item: Item; readonly event?: string }
  /** Answered with 409: the state of the item does not allow it. */
  | { readonly kind: 'conflict'; readonly message: string };

export interface WriteRules<Item> {
  readonly database: DatabaseSync;
  readonly outbox: Outbox;
  readonly keys: IdempotencyKeys;
  readonly create: (item: Item) => Decision<Item>;
  readonly change: (before: Item, after: Item) => Decision<Item>;
  /** Event type of a removal; undefined: no event. */
  readonly removed: string | undefined;
  /** POST on a sub-path of an item, by the name of the sub-path. */
  readonly actions: Readonly<Record<string, (item: Item) => Decision<Item>>>;
  readonly dataOf: (id: string, item: Item) => JsonObject;
}

export interface Collection<Item> {
  /** Path without a trailing slash, as `/orders`. */
  readonly path: string;
  readonly cacheControl: string;
  /** Request headers that select a representation, for Vary. */
  readonly vary?: string;
  readonly paging: Paging;
  readonly records: Records<Item>;
  readonly idOf: (key: Key) => string;
  /** Undefined for an id that cannot exist. */
  readonly keyOf: (id: string) => Key | undefined;
  readonly edition: Edition<Item>;
  /** Name of the edition. An idempotency key is valid within one edition. */
  readonly editionName: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Absent for a read-only collection. */
  readonly writing?: WriteRules<Item>;
}
