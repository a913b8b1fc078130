// Sends the events of the outbox to the intake, in order and at least once.
import { LONGEST_PAUSE_MS, type OutboxQueue, type Waiting } from './outbox.ts';

interface SenderOptions {
  readonly queue: OutboxQueue;
  /** URL that takes events by POST and answers 202 after storing them. */
  readonly intake: string;
  readonly now: () => number;
  readonly report: (line: string) => void;
}

interface Sender {
  readonly wake: () => void;
  /** Resolves when no request is in progress; unsent events stay in the file. */
  readonly close: () => Promise<void>;
}

const ANSWER_WITHIN_MS = 10_000;
/** Longer than the answer timeout. If a process dies while it sends, other processes get its event after this time. */
const HELD_MS = 15_000;
/** Pauses after the first, second, … failure in a row. */
const PAUSES_MS = [200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
/** A refused event is malformed, which is a bug here. Later events go on, and the bug is reported. */
const REFUSED_PAUSE_MS = LONGEST_PAUSE_MS;
/** Another process may have left events behind. */
const LOOK_EVERY_MS = 5_000;

type Outcome = 'taken' | 'refused' | 'away';

export function startSender({ queue, intake, now, report }: SenderOptions): Sender {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let failures = 0;

  async function sendDue(): Promise<void> {
    for (;;) {
      const queued = ending.signal.aborted ? undefined : queue.take(now(), now() + HELD_MS);
      if (queued === undefined) return;
      const outcome = await post(queued);
      if (outcome === 'taken') {
        failures = 0;
        queue.taken(queued.sequence);
        continue;
      }
      if (outcome === 'refused') {
        report(`the intake refuses the event ${queued.event.id} (${queued.event.type})`);
        queue.postpone(queued.sequence, now() + REFUSED_PAUSE_MS);
        continue;
      }
      // Returned at once, so that the next process need not wait for it if this one ends.
      queue.postpone(queued.sequence, now());
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
      return 'away'; // whatever failed, the event is still unsent
    }
  }

  function run(): void {
    clearTimeout(timer);
    if (ending.signal.aborted) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    again = false;
    running = sendDue()
      .catch((error: unknown) => report(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        running = undefined;
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
    // A new event does not shorten the pause after a failure.
    wake: () => {
      if (failures === 0) run();
    },
    close: async () => {
      ending.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
