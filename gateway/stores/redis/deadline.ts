// How long a request waits for Redis: an answer in time, or none.
// Asked by link.ts for each command.
import { Late } from './failures.ts';

/**
 * The answer, or a rejection after `limitMs`. ioredis has an option for it, but its timer also fires when it
 * was this process that stalled; the turn of the event loop granted here reads a reply that had arrived in time.
 */
export function answered<T>(reply: Promise<T>, limitMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => setImmediate(() => reject(new Late('TIMEOUT'))), limitMs);
  reply.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
