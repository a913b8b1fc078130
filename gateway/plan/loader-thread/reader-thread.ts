// The thread in which a reload reads and checks: a policy reader that answers questions from the thread that serves.
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createPolicyReader } from './policy-reader.ts';
import type { PolicyReader } from './reader-contract.ts';

type Name = Exclude<keyof PolicyReader, 'rest' | 'close'>;

/** One for each function of the contract, by its name. */
export type Question = {
  readonly [K in Name]: { readonly name: K; readonly given: Parameters<PolicyReader[K]> };
}[Name];

export type Reply =
  | { readonly kind: 'answer'; readonly answer: unknown }
  /** A mistake of ours; what is wrong with files is an answer. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** A quarter of a processor that the serving thread wants as well, and all of one that is idle. */
const NICENESS = 5;
const LOWEST = 19;
/** The error code with which the system refuses. */
const REFUSED = 'ERR_SYSTEM_ERROR';

giveWay();
const reader = createPolicyReader(workerData);

function answer(question: Question): Promise<unknown> {
  switch (question.name) {
    case 'read':
      return reader.read(...question.given);
    case 'recall':
      return reader.recall(...question.given);
    case 'compare':
      return reader.compare(...question.given);
    case 'settle':
      return reader.settle(...question.given);
    case 'former':
      return reader.former(...question.given);
    case 'pieces':
      return reader.pieces(...question.given);
    case 'problems':
      return reader.problems(...question.given);
    default: {
      const never: never = question;
      throw new Error(`unhandled question ${String(never)}`);
    }
  }
}

parentPort?.on('message', (question: Question) => {
  const reply = (message: Reply) => parentPort?.postMessage(message);
  answer(question).then(
    (given) => reply({ kind: 'answer', answer: given }),
    (error: unknown) => reply({ kind: 'failed', error }),
  );
});

/** Only on Linux is a priority the thread's own. If the system forbids it, a reload takes an equal share. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(LOWEST, getPriority() + NICENESS));
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, 'code') !== REFUSED) throw error;
  }
}
