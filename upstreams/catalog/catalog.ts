// The sample product catalog, API v2: read-only, public and cacheable, rebuilt in memory at each start.
import { answerCollection } from '../service/collection.ts';
import type { Edition } from '../service/collection-contract.ts';
import { openDatabase } from '../service/database.ts';
import { type ListenOptions, listen, type Service } from '../service/listen.ts';
import { createTable, openRecords, type TableDefinition } from '../service/records.ts';
import { boundFilter, readWhole, textFilter, WHOLE_AMOUNT } from '../service/values.ts';

interface Product {
  readonly name: string;
  /** Minor units of `currency`. */
  readonly price: number;
  readonly currency: string;
}

const NAMES = [
  'Armillary sphere',
  'Astrolabe',
  'Brass sextant',
  'Equatorial dial',
  'Garden sundial',
  'Hourglass',
  'Marine chronometer',
  'Nocturnal',
  'Pocket sundial',
  'Quadrant',
  'Ring dial',
  'Water clock',
] as const;
const SINCE = Date.UTC(2026, 5, 1);

const TABLE: TableDefinition<Product> = {
  table: 'products',
  key: 'TEXT',
  columns: { name: 'TEXT NOT NULL', price: 'INTEGER NOT NULL', currency: 'TEXT NOT NULL' },
  write: (product) => ({ ...product }),
  read: ({ name, price, currency }) => ({
    name: String(name),
    price: Number(price),
    currency: String(currency),
  }),
};

const EDITION: Edition<Product> = {
  fields: ['id', 'name', 'price', 'currency'],
  filters: {
    name: textFilter('name'),
    min_price: boundFilter('price', '>=', readWhole, WHOLE_AMOUNT),
    max_price: boundFilter('price', '<=', readWhole, WHOLE_AMOUNT),
  },
  sorts: { id: 'key', name: 'name', price: 'price' },
  show: (id, { name, price, currency }) => ({ id, name, price, currency }),
  parse: () => ({ kind: 'invalid', message: 'products are only read' }),
};

export async function startCatalog(options: ListenOptions): Promise<Service> {
  const database = openDatabase({
    dataFolder: undefined,
    name: 'catalog.db',
    fill: (empty) => createTable(empty, TABLE),
  });
  const records = openRecords(database, TABLE);
  for (const [index, name] of NAMES.entries())
    records.insert(
      { name, price: 4900 + index * 1250, currency: 'EUR' },
      SINCE,
      name.toLowerCase().replaceAll(' ', '-'),
    );
  const answer = answerCollection({
    path: '/catalog',
    cacheControl: 'public, max-age=60',
    paging: 'offset',
    records,
    idOf: String,
    keyOf: (id) => id,
    edition: EDITION,
    editionName: 'v2',
    now: Date.now,
  });
  return listen(answer, options);
}
