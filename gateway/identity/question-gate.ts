// Lets questions through to an issuer that answers, and few to one that does not: a dead endpoint costs one request of
// many its time-out. Between the token cache and introspect.ts.
import type { EpochMs } from '../policy/contract.ts';
import { hasPassed } from './issuer-request.ts';

/** Failures in a row after which the endpoint is taken for dead. */
const FAILURES = 3;
/** Milliseconds until one question tries it again. */
const COOLDOWN = 5_000;
/** More at once than this are not asked: a flood of made-up tokens becomes no flood of questions. */
const MOST_AT_ONCE = 256;

/** Undefined, at once, where the question is not let through; rejects as `ask` does. */
export type QuestionGate = <Answer>(ask: () => Promise<Answer>) => Promise<Answer> | undefined;

/** `isOfEndpoint`: whether a failure is one of the endpoint, and not of the one question. */
export function createQuestionGate(
  now: () => EpochMs,
  isOfEndpoint: (error: unknown) => boolean,
): QuestionGate {
  let asking = 0;
  let failures = 0;
  let failedAt = Number.NEGATIVE_INFINITY;

  const mayAsk = (): boolean => {
    if (failures < FAILURES) return asking < MOST_AT_ONCE;
    return asking === 0 && hasPassed(failedAt, COOLDOWN, now());
  };

  return (ask) => {
    if (!mayAsk()) return undefined;
    asking += 1;
    return ask()
      .then(
        (answer) => {
          failures = 0;
          return answer;
        },
        (error: unknown) => {
          if (isOfEndpoint(error)) {
            failures += 1;
            failedAt = now();
          } else failures = 0;
          throw error;
        },
      )
      .finally(() => {
        asking -= 1;
      });
  };
}
