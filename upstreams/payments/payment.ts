// A payment as the service keeps it, whatever edition of the API writes or reads it.
import type { JsonObject } from '../service/body.ts';
import type { Parsed } from '../service/collection.ts';

export interface Payment {
  readonly id: string;
  readonly payer: string;
  /** Minor units of `currency`. */
  readonly amount: number;
  readonly currency: string;
  /** Seconds since 1970. */
  readonly created: number;
}

/** What one edition of the API looks like. */
export interface Edition {
  readonly show: (payment: Payment) => object;
  readonly parse: (id: string, written: JsonObject) => Parsed<Payment>;
}

const PAYERS = ['globex', 'initech', 'umbrella', 'hooli'] as const;
const FIRST = 1_772_323_200; // 2026-03-01T00:00:00Z
const SECONDS_PER_DAY = 86_400;

/** Always the same 24 payments, p-2001 first. */
export function samplePayments(): readonly Payment[] {
  return Array.from({ length: 24 }, (_, index) => ({
    id: `p-${2001 + index}`,
    payer: PAYERS[index % PAYERS.length] ?? 'globex',
    amount: 1250 + index * 385,
    currency: 'EUR',
    created: FIRST + index * SECONDS_PER_DAY,
  }));
}

export function invalid(message: string): Parsed<never> {
  return { kind: 'invalid', message };
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function isCurrency(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Z]{3}$/.test(value);
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
