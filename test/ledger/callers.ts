// Clients of several gateways. They count responses by consumer and operation, to compare with the ledger.
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { LedgerStore } from '../../gateway/policy/usage/ledger.ts';

/** By `consumer operation`. */
export type Counts = Readonly<Record<string, number>>;

export interface Caller {
  readonly consumer: string;
  readonly authorization: string | undefined;
}

/** Paths of a deprecated version, and the operation as which each counts. */
const CALLS = [
  ['/api/v1/orders/7', '-'],
  ['/api/v1/orders/items/7', 'GET /items/{id}'],
] as const;

export interface CallOptions {
  readonly total: number;
  readonly atOnce: number;
  readonly onAnswered?: (answered: number) => void;
}

export interface Called {
  readonly counts: Counts;
  /** Calls without a response. Each was repeated. */
  readonly failed: number;
  /** The number of responses in the last `milliseconds` of each connection that broke. */
  readonly answeredShortlyBefore: (milliseconds: number) => number;
}

/**
 * Makes `total` calls, divided evenly among `callers`, `CALLS` and the gateways at `ports`, which may change.
 * Only complete responses count. Failed calls are repeated.
 */
export async function callAll(
  callers: readonly Caller[],
  ports: () => readonly number[],
  { total, atOnce, onAnswered = () => undefined }: CallOptions,
): Promise<Called> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const answers = new Map<Socket, number[]>();
  const broken: { readonly at: number; readonly times: readonly number[] }[] = [];
  const counts: Record<string, number> = {};
  let begun = 0;
  let answered = 0;
  let failed = 0;

  const timesOn = (socket: Socket): number[] => {
    const times: number[] = [];
    answers.set(socket, times);
    socket.once('close', () => {
      answers.delete(socket);
      if (answered < total) broken.push({ at: performance.now(), times });
    });
    return times;
  };
  /** Resolves with the status of a complete response. */
  const ask = (port: number, path: string, { authorization }: Caller): Promise<number | undefined> => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const headers = authorization === undefined ? {} : { authorization };
    const sent = request({ agent, host: '127.0.0.1', port, path, headers }, (response) => {
      const { socket } = response;
      response.resume();
      response.once('close', () => {
        if (response.complete) (answers.get(socket) ?? timesOn(socket)).push(performance.now());
        resolve(response.complete ? response.statusCode : undefined);
      });
    });
    sent.once('error', () => resolve(undefined));
    sent.end();
    return promise;
  };
  const call = async (index: number): Promise<void> => {
    const caller = callers[index % callers.length];
    const [path, operation] = CALLS[Math.floor(index / callers.length) % CALLS.length] ?? CALLS[0];
    for (let attempt = 0; caller !== undefined; attempt += 1) {
      const open = ports();
      const status = await ask(open[(index + attempt) % open.length] ?? 0, path, caller);
      if (status === 200) {
        const name = `${caller.consumer} ${operation}`;
        counts[name] = (counts[name] ?? 0) + 1;
        answered += 1;
        onAnswered(answered);
        return;
      }
      // A busy machine: 503 is sent before the call is counted.
      if (status !== undefined && status !== 503) throw new Error(`a call got ${status}`);
      failed += 1;
      // Until a stopped gateway is replaced.
      await setTimeout(50);
    }
  };
  const callOn = async (): Promise<void> => {
    while (begun < total) {
      begun += 1;
      await call(begun - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, callOn));
  agent.destroy();
  return {
    counts,
    failed,
    answeredShortlyBefore: (milliseconds) =>
      broken.reduce((sum, { at, times }) => sum + times.filter((time) => time > at - milliseconds).length, 0),
  };
}

/** The counts of the API `orders` in the ledger. */
export async function countsIn(ledger: LedgerStore): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page = await ledger.read({ api: 'orders' }, { after, limit: 1000 });
    for (const { consumer, operation = '-', callsByDay } of page.records)
      counts[`${consumer} ${operation}`] = Object.values(callsByDay).reduce((sum, calls) => sum + calls, 0);
    after = page.next;
  }
  return counts;
}
