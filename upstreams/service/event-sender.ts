// Sends what stands in the outbox to the intake of events, in its order, until each is taken: at least once.
// Started with a service that knows an intake; ends with it.
import { LONGEST_PAUSE_MS, type OutboxQueue, type Waiting } from './outbox.ts';

interface SenderOptions {
  readonly queue: OutboxQueue;
  /** URL that takes events by POST and answers 202 once it keeps them. */
  readonly intake: string;
  readonly now: () => number;
  /** One line for the operator. */
  readonly report: (line: string) => void;
}

interface Sender {
  /** There is something to send. */
  readonly wake: () => void;
  /** Resolves when nothing is under way any more; what was not taken waits in the file. */
  readonly close: () => Promise<void>;
}

const ANSWER_WITHIN_MS = 10_000;
/** Longer than an answer may take: a process that died while it sent keeps its event from the others no longer. */
const HELD_MS = 15_000;
/** After the first, second, … time in a row that the intake did not answer as it should. */
const PAUSES_MS = [200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
/** What the intake calls malformed is a mistake of ours: the others go on, and it is told of. */
const REFUSED_PAUSE_MS = LONGEST_PAUSE_MS;
/** Another process may have left something behind. */
const LOOK_EVERY_MS = 5_000;

type Outcome = 'taken' | 'refused' | 'away';

export function startSender({ queue, intake, now, report }: SenderOptions): Sender {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> | undefined;
  let again = false;
  let failures = 0;

  async function sendDue(): Promise<void> {
    for (;;) {
      const waiting = ending.signal.aborted ? undefined : queue.take(now(), now() + HELD_MS);
      if (waiting === undefined) return;
      const outcome = await post(waiting);
      if (outcome === 'taken') {
        failures = 0;
        queue.taken(waiting.sequence);
        continue;
      }
      if (outcome === 'refused') {
        report(`the intake refuses the event ${waiting.event.id} (${waiting.event.type})`);
        queue.postpone(waiting.sequence, now() + REFUSED_PAUSE_MS);
        continue;
      }
      // Given back at once when we end, so that the next process need not wait for it.
      queue.postpone(waiting.sequence, now());
      failures += 1;
      return;
    }
  }

  async function post({ event }: Waiting): Promise<Outcome> {
    try {
      const answer = await fetch(intake, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(event),
        redirect: 'error',
        signal: AbortSignal.any([ending.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
      });
      await answer.body?.cancel();
      if (answer.status === 202) return 'taken';
      return answer.status === 400 || answer.status === 413 || answer.status === 422 ? 'refused' : 'away';
    } catch {
      return 'away'; // whatever it was, the event is still ours to send
    }
  }

  function run(): void {
    clearTimeout(timer);
    if (ending.signal.aborted) return;
    if (round !== undefined) {
      again = true;
      return;
    }
    again = false;
    round = sendDue()
      .catch((error: unknown) => report(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        round = undefined;
        if (again && failures === 0) run();
        else schedule();
      });
  }

  function schedule(): void {
    if (ending.signal.aborted) return;
    const pause = failures === 0 ? LOOK_EVERY_MS : (PAUSES_MS[failures - 1] ?? PAUSES_MS.at(-1));
    timer = setTimeout(run, pause);
    timer.unref();
  }

  run();
  return {
    // While the intake is away, a new event does not hurry it.
    wake: () => {
      if (failures === 0) run();
    },
    close: async () => {
      ending.abort();
      clearTimeout(timer);
      await round;
    },
  };
}
