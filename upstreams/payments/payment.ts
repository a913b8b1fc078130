// A payment as stored, its table, and its state changes; all editions of the API use it.
import type { DatabaseSync } from 'node:sqlite';
import type { Decision } from '../service/collection-contract.ts';
import { createTable, openRecords, type TableDefinition } from '../service/records.ts';

type PaymentState = 'pending' | 'completed' | 'failed' | 'refunded';

export interface Payment {
  readonly payer: string;
  /** Minor units of `currency`. */
  readonly amount: number;
  readonly currency: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly state: PaymentState;
}

/** All have a hundred minor units; the first edition relies on that. */
export const CURRENCIES = ['CHF', 'EUR', 'GBP', 'USD'] as const;
export const STATES = ['pending', 'completed', 'failed', 'refunded'] as const;

/** Test payers: payments of the first fail, those of the second stay pending until captured. All others complete at once. */
const FAILING_PAYER = 'declined';
const WAITING_PAYER = 'undecided';

const PAYERS = ['globex', 'initech', 'umbrella', 'hooli'] as const;
const FIRST_NUMBER = 2001;
const SAMPLES = 240;
const FIRST = 1_772_323_200; // 2026-03-01T00:00:00Z
const SECONDS_PER_DAY = 86_400;

const TABLE: TableDefinition<Payment> = {
  table: 'payments',
  key: 'INTEGER',
  columns: {
    payer: 'TEXT NOT NULL',
    amount: 'INTEGER NOT NULL',
    currency: 'TEXT NOT NULL',
    created: 'INTEGER NOT NULL',
    state: 'TEXT NOT NULL',
  },
  write: (payment) => ({ ...payment }),
  read: ({ payer, amount, currency, created, state }) => ({
    payer: String(payer),
    amount: Number(amount),
    currency: String(currency),
    created: Number(created),
    state: STATES.find((known) => known === state) ?? 'failed',
  }),
};

export const openPayments = (database: DatabaseSync) => openRecords(database, TABLE);

/** Always the same 240 payments, p-2001 first: of each twelve one is refunded, one failed and one pending. */
export function fillPayments(database: DatabaseSync): void {
  createTable(database, TABLE);
  const payments = openPayments(database);
  for (let index = 0; index < SAMPLES; index += 1) {
    const payment = samplePayment(index);
    payments.insert(payment, payment.created * 1_000, FIRST_NUMBER + index);
  }
}

const SAMPLE_STATES: ReadonlyMap<number, PaymentState> = new Map([
  [5, 'failed'],
  [7, 'refunded'],
  [11, 'pending'],
]);

function samplePayment(index: number): Payment {
  return {
    payer: PAYERS[index % PAYERS.length] ?? 'globex',
    amount: 1250 + index * 385,
    currency: 'EUR',
    created: FIRST + index * SECONDS_PER_DAY,
    state: SAMPLE_STATES.get(index % 12) ?? 'completed',
  };
}

/** The service decides the state, whatever the client wrote. */
export function makePayment(written: Payment): Decision<Payment> {
  switch (written.payer) {
    case FAILING_PAYER:
      return { kind: 'done', item: { ...written, state: 'failed' }, event: 'payment.failed' };
    case WAITING_PAYER:
      return { kind: 'done', item: { ...written, state: 'pending' } };
    default:
      return completed(written);
  }
}

function completed(payment: Payment): Decision<Payment> {
  return { kind: 'done', item: { ...payment, state: 'completed' }, event: 'payment.completed' };
}

export function changePayment(before: Payment, after: Payment): Decision<Payment> {
  if (before.state === 'failed' || before.state === 'refunded')
    return { kind: 'conflict', message: `The payment is ${before.state} and cannot be changed` };
  return { kind: 'done', item: { ...after, state: before.state } };
}

export function capturePayment(payment: Payment): Decision<Payment> {
  if (payment.state !== 'pending')
    return {
      kind: 'conflict',
      message: `The payment is ${payment.state}: only a pending payment can be captured`,
    };
  // A PATCH may have changed the payer since, also to one whose payments fail.
  return payment.payer === WAITING_PAYER ? completed(payment) : makePayment(payment);
}

export function refundPayment(payment: Payment): Decision<Payment> {
  if (payment.state !== 'completed')
    return {
      kind: 'conflict',
      message: `The payment is ${payment.state}: only a completed payment can be refunded`,
    };
  return { kind: 'done', item: { ...payment, state: 'refunded' }, event: 'payment.refunded' };
}
