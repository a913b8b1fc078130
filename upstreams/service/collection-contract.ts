// What a service says of one collection: how items are kept, how an edition of its API shows and reads them, and what
// may happen to them. collection.ts answers requests from it.
import type { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from './body.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';
import type { ListNames, Paging } from './list-query.ts';
import type { Outbox } from './outbox.ts';
import type { Key, Records } from './records.ts';

export type Parsed<Item> =
  | { readonly kind: 'valid'; readonly item: Item }
  | { readonly kind: 'invalid'; readonly message: string };

/** What one edition of an API looks like. */
export interface Edition<Item> extends ListNames {
  readonly show: (id: string, item: Item) => JsonObject;
  /** Makes a whole item of what a client wrote; `current`: what stands there, for members it left out. */
  readonly parse: (written: JsonObject, current: Item | undefined) => Parsed<Item>;
  /** Hypermedia links of an item by relation; absent: this edition has none. */
  readonly links?: (item: Item) => Readonly<Record<string, ItemLink>>;
}

/** To the item itself, its collection, or a sub-path of the item. */
export type ItemLink =
  | { readonly to: 'item' | 'collection'; readonly method?: string }
  | { readonly to: 'action'; readonly name: string };

export type Decision<Item> =
  /** `event`: its type; undefined where nobody needs to hear of it. */
  | { readonly kind: 'done'; readonly item: Item; readonly event?: string }
  /** 409: the item is not in a state for it. */
  | { readonly kind: 'conflict'; readonly message: string };

/** What may happen to items, whatever edition asks for it. */
export interface Writing<Item> {
  readonly database: DatabaseSync;
  readonly outbox: Outbox;
  readonly keys: IdempotencyKeys;
  readonly create: (item: Item) => Decision<Item>;
  readonly change: (before: Item, after: Item) => Decision<Item>;
  /** Type of the event that tells of a removal; undefined: nobody needs to hear of it. */
  readonly removed: string | undefined;
  /** POST on a sub-path of an item, by the name of the path. */
  readonly actions: Readonly<Record<string, (item: Item) => Decision<Item>>>;
  /** The content of an event. */
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
  /** Undefined for what can be nobody's id. */
  readonly keyOf: (id: string) => Key | undefined;
  readonly edition: Edition<Item>;
  /** Name of the edition: a repeated key means the same request only within one. */
  readonly editionName: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Absent: the collection is only read. */
  readonly writing?: Writing<Item>;
}
