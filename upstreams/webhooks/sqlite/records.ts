// Converts rows of webhooks.db to records; only this store writes them, so their form is not checked.
import type { Delivery, KeptEvent } from '../delivery.ts';
import type { Health } from '../health.ts';
import type { Subscription } from '../subscription.ts';

export type Row = Record<string, unknown> | undefined;

export const toSubscription = (row: Row): Subscription | undefined => parse<Subscription>(row);
export const toDelivery = (row: Row): Delivery | undefined => parse<Delivery>(row);
export const toHealth = (row: Row): Health | undefined => parse<Health>(row);

export function toEvent(row: Row): KeptEvent | undefined {
  if (row === undefined) return undefined;
  return { id: String(row.id), type: String(row.type), body: String(row.body), kept: Number(row.kept) };
}

export function present<T>(records: readonly (T | undefined)[]): readonly T[] {
  return records.filter((record) => record !== undefined);
}

function parse<T>(row: Row): T | undefined {
  return row === undefined ? undefined : (JSON.parse(String(row.record)) as T);
}
