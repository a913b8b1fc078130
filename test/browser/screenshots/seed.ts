// Writes a month of calls to a ledger for the screenshots: consumers that move, leave or stay.
import { openEmbeddedState } from '../../../gateway/stores/embedded/embedded-state.ts';

const DAY_MS = 86_400_000;
const DAYS = 35;

interface Habit {
  readonly consumer: string;
  readonly api: string;
  readonly version: string;
  readonly agent: string;
  /** Calls on the day that is `left` days before the last. `quiet`: on Saturdays and Sundays. */
  readonly calls: (left: number, quiet: boolean) => number;
}

const orders = { api: 'orders', version: 'v1' };
const HABITS: readonly Habit[] = [
  {
    ...orders,
    consumer: 'acme',
    agent: 'acme-erp/4.2',
    calls: (left, quiet) => (quiet ? 40 : 120) + left * 9,
  },
  {
    ...orders,
    consumer: 'globex',
    agent: 'globex-sync/1.8',
    calls: (left, quiet) => (quiet ? 0 : 150 + (left % 4) * 12),
  },
  { ...orders, consumer: 'initech', agent: 'python-requests/2.32', calls: (left) => (left > 13 ? 60 : 0) },
  { ...orders, consumer: 'storefront', agent: 'storefront/2.0', calls: (left) => 18 + (left % 5) * 7 },
  {
    api: 'payments',
    version: '2024-09-01',
    consumer: 'acme',
    agent: 'acme-erp/4.2',
    calls: (left, quiet) => (quiet ? 5 : 35 + (left % 3) * 4),
  },
];

/** `today`: Unix time in ms of the start of the day. It gets no calls, because the demo adds those. */
export async function seedLedger(dataFolder: string, today: number): Promise<void> {
  const fault = (error: unknown): never => {
    throw error;
  };
  const state = await openEmbeddedState(dataFolder, { onState: () => undefined, onFault: fault });
  try {
    const watched = HABITS.map(({ api, version }) => ({ api, version }));
    const began = { writer: 'seed', number: 1, at: today - DAYS * DAY_MS, watched, records: [] };
    await state.ledger.add(began);
    const records = HABITS.map(({ consumer, api, version, agent, calls }) => {
      const days = Array.from({ length: DAYS }, (_, index) => index + 1)
        .map((left) => ({ at: today - left * DAY_MS, left }))
        .map(({ at, left }) => ({ at, calls: calls(left, [0, 6].includes(new Date(at).getUTCDay())) }))
        .filter((day) => day.calls > 0);
      return {
        ...({
          consumer,
          api,
          version,
          via: 'token',
          operation: undefined,
          agents: [agent],
          sample: undefined,
        } as const),
        firstAt: Math.min(...days.map(({ at }) => at)) + 8 * 3_600_000,
        lastAt: Math.max(...days.map(({ at }) => at)) + 17 * 3_600_000,
        callsByDay: Object.fromEntries(
          days.map((day) => [new Date(day.at).toISOString().slice(0, 10), day.calls]),
        ),
      };
    });
    await state.ledger.add({ ...began, number: 2, at: today - DAY_MS, watched: [], records });
  } finally {
    await state.close();
  }
}
