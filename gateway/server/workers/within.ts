// An answer, or a rejection when it takes too long.
// For questions to another process, which may be stopped without being gone.

export class TooLate extends Error {}

/** Rejects with `TooLate` after `ms` milliseconds; what is asked may happen all the same. */
export function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new TooLate(`no answer within ${ms} ms`)), ms);
  answer.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
