// The thread that reads and checks policies for a reload. It answers messages from the main thread.
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createPolicyReader } from './policy-reader.ts';
import type { PolicyReader } from './reader-contract.ts';

type Name = Exclude<keyof PolicyReader, 'endLoad' | 'close'>;

export type ReaderCall = {
  readonly [K in Name]: { readonly name: K; readonly given: Parameters<PolicyReader[K]> };
}[Name];

export type ReaderReply =
  | { readonly kind: 'answer'; readonly answer: unknown }
  /** A bug of the gateway. Errors in files are part of an answer. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** With this nice value, the thread gets about a quarter of a processor that the main thread also uses. */
const NICENESS = 5;
const LOWEST = 19;
/** Code of the error if the system refuses the priority. */
const REFUSED = 'ERR_SYSTEM_ERROR';

lowerPriority();
const reader = createPolicyReader(workerData);

function answer(question: ReaderCall): Promise<unknown> {
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

parentPort?.on('message', (question: ReaderCall) => {
  const reply = (message: ReaderReply) => parentPort?.postMessage(message);
  answer(question).then(
    (given) => reply({ kind: 'answer', answer: given }),
    (error: unknown) => reply({ kind: 'failed', error }),
  );
});

/** Only Linux has a priority per thread. If the system refuses it, the reload competes at normal priority. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(LOWEST, getPriority() + NICENESS));
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, 'code') !== REFUSED) throw error;
  }
}
