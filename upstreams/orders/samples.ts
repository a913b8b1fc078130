// What both order services know at start: the same orders, before each writes them in its own way.

export interface SampleOrder {
  readonly number: number;
  readonly customer: string;
  /** Euro cents. */
  readonly cents: number;
  /** Whole days since 1970-01-01. */
  readonly day: number;
  readonly shipped: boolean;
}

const CUSTOMERS = ['acme', 'globex', 'initech', 'umbrella', 'hooli'] as const;
const FIRST_DAY = 20_512; // 2026-02-28

/** Always the same 45 orders, numbered from 1001. */
export function sampleOrders(): readonly SampleOrder[] {
  return Array.from({ length: 45 }, (_, index) => ({
    number: 1001 + index,
    customer: CUSTOMERS[index % CUSTOMERS.length] ?? 'acme',
    cents: 1250 + index * 385,
    day: FIRST_DAY + index * 3,
    shipped: index % 3 === 0,
  }));
}
