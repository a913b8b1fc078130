// A judgement that waits only where a step returned a promise: a generator yields the promise, `settle` resumes it.
// An `async` function would make a promise for every request, also where all answers are there at once.
import type { MaybePromise } from '../policy/contract.ts';

export type Judging<Result> = Generator<Promise<unknown>, Result, unknown>;

/** The result at once if the judgement waits for nothing. An error is a rejection in either case. */
export function settle<Result>(judging: Judging<Result>): MaybePromise<Result> {
  try {
    return resume(judging, judging.next());
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The value of `promise` inside a judgement: `yield* awaited(promise)`. */
export function* awaited<Value>(promise: Promise<Value>): Judging<Value> {
  // `settle` resumes with the value of the promise that was yielded.
  return (yield promise) as Value;
}

function resume<Result>(
  judging: Judging<Result>,
  step: IteratorResult<Promise<unknown>, Result>,
): MaybePromise<Result> {
  if (step.done === true) return step.value;
  return step.value
    .then(
      (value) => judging.next(value),
      (error: unknown) => judging.throw(error),
    )
    .then((next) => resume(judging, next));
}
