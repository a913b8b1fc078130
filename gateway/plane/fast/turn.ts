// The work of one turn of the event loop on the fast plane, in stages: all that came is read, then judged, then sent on, then written.
// One request after the other through all stages would load the code of each stage again for each request, which takes a tenth of the time.

/** Bounds the time for which the first one waits. */
const MOST_WAITING = 64;

/** One stage: what it is to do, in order. */
class Stage {
  /** What to call, and what to call it with, in turns. */
  #waiting: unknown[] = [];

  /** Calls `step(subject)` once, soon. @throws what a step throws, where so many wait that they are not kept waiting */
  later<Subject>(step: (subject: Subject) => void, subject: Subject): void {
    this.#waiting.push(step, subject);
    if (this.#waiting.length >= 2 * MOST_WAITING) runTurn();
    else arm();
  }

  /** Calls what waits now, but not what begins to wait meanwhile. What a step throws is thrown; the others keep waiting. */
  run(): void {
    const steps = this.#waiting;
    if (steps.length === 0) return;
    this.#waiting = [];
    let at = 0;
    try {
      while (at < steps.length) {
        at += 2;
        (steps[at - 2] as (subject: unknown) => void)(steps[at - 1]);
      }
    } finally {
      if (at < steps.length) this.#waiting.unshift(...steps.slice(at));
    }
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }
}

export const reading = new Stage();
export const judging = new Stage();
export const sending = new Stage();
/** Last and together: a write wakes the process that reads it. On one machine this costs more than the write, unless that process is awake already. */
export const writing = new Stage();
const STAGES = [reading, judging, sending, writing] as const;

let isArmed = false;
let isRunning = false;

function arm(): void {
  if (isArmed || isRunning) return;
  isArmed = true;
  setImmediate(onTurnEnd);
}

function onTurnEnd(): void {
  isArmed = false;
  runTurn();
}

/** Does now what waits for the end of the turn. */
export function runTurn(): void {
  if (isRunning) return;
  isRunning = true;
  try {
    for (const stage of STAGES) stage.run();
  } finally {
    isRunning = false;
    if (STAGES.some(({ isWaiting }) => isWaiting)) arm();
  }
}
