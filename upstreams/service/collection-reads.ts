// GET and HEAD of a collection and of its items: pages, selected fields, validators and 304.
import type { IncomingHttpHeaders } from 'node:http';
import type { ResponseHeaders } from './answer.ts';
import type { Collection } from './collection-contract.ts';
import { type ListQuery, readFields, readListQuery, refuseNames } from './list-query.ts';
import { NOT_THERE, type Outcome, PRECONDITION_FAILED, type Refused } from './outcome.ts';
import { type CursorPage, linkAfter, offsetPage, type Page } from './page.ts';
import type { Key, Selection, StoredItem } from './records.ts';
import { represent } from './representation.ts';
import { judge, tagOf, validatorHeaders } from './validators.ts';

interface Found {
  readonly body: Page | CursorPage;
  readonly headers: ResponseHeaders;
}

export function readItem<Item>(
  collection: Collection<Item>,
  key: Key,
  query: URLSearchParams,
  headers: IncomingHttpHeaders,
): Outcome | Refused {
  const kept = collection.records.find(key);
  if (kept === undefined) return NOT_THERE;
  const wrong = refuseNames(query, ['fields']);
  if (wrong !== undefined) return { refused: 400, message: wrong };
  const fields = readFields(query, collection.edition);
  if (typeof fields === 'string') return { refused: 400, message: fields };
  const { cacheControl } = collection;
  return readOf(represent(collection, kept, 'item', fields), kept.changed, headers, {
    'Cache-Control': cacheControl,
  });
}

export function readList<Item>(
  collection: Collection<Item>,
  query: URLSearchParams,
  headers: IncomingHttpHeaders,
): Outcome | Refused {
  const { edition, paging, records, cacheControl } = collection;
  const wanted = readListQuery(query, edition, paging);
  if (typeof wanted === 'string') return { refused: 400, message: wanted };
  const found =
    paging === 'offset' ? numbered(collection, wanted, query) : following(collection, wanted, query);
  if (typeof found === 'string') return { refused: 400, message: found };
  const { body } = found;
  return readOf(body, records.changed(), headers, { 'Cache-Control': cacheControl, ...found.headers });
}

function numbered<Item>(collection: Collection<Item>, wanted: ListQuery, query: URLSearchParams): Found {
  const { records } = collection;
  const { where, page, limit } = wanted;
  const total = records.count(where);
  const data = shown(collection, records.list({ ...wanted, offset: (page - 1) * limit }), wanted);
  return { body: offsetPage(data, { page, limit, total }, query), headers: {} };
}

/** PAG-2. A cursor whose item does not exist is refused, since nothing can come after it. */
function following<Item>(
  collection: Collection<Item>,
  wanted: ListQuery,
  query: URLSearchParams,
): Found | string {
  const { records, idOf, keyOf } = collection;
  const { startingAfter, order, limit } = wanted;
  const key = startingAfter === undefined ? undefined : keyOf(startingAfter);
  if (startingAfter !== undefined && (key === undefined || records.find(key) === undefined))
    return 'starting_after must be the id of an existing item';
  const column = order[0]?.column ?? 'key';
  const after = key === undefined ? undefined : { key, value: records.valueOf(key, column) };
  // One more than the page shows whether there is a next page.
  const selection: Selection = { ...wanted, limit: limit + 1, ...(after === undefined ? {} : { after }) };
  const found = records.list(selection);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const more = found.length > limit && last !== undefined;
  const link: ResponseHeaders = more
    ? { Link: `<${linkAfter(idOf(last.key), limit, query)}>; rel="next"` }
    : {};
  return { body: { data: shown(collection, page, wanted), has_more: more }, headers: link };
}

function shown<Item>(
  collection: Collection<Item>,
  items: readonly StoredItem<Item>[],
  { fields }: ListQuery,
): readonly unknown[] {
  return items.map((kept) => represent(collection, kept, 'collection', fields));
}

function readOf(
  value: object,
  lastModified: number,
  headers: IncomingHttpHeaders,
  more: ResponseHeaders,
): Outcome | Refused {
  const body = JSON.stringify(value);
  const validators = { etag: tagOf(body), lastModified };
  const own = { ...validatorHeaders(validators), ...more };
  const verdict = judge(headers, true, validators);
  switch (verdict) {
    case 'proceed':
      return { status: 200, headers: own, body };
    case 'not-modified':
      return { status: 304, headers: own, body: undefined };
    case 'failed':
      return { refused: 412, message: PRECONDITION_FAILED, headers: validatorHeaders(validators) };
    default: {
      const never: never = verdict;
      throw new Error(`unhandled verdict ${String(never)}`);
    }
  }
}
