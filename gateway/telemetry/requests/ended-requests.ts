// Requests that have ended, buffered briefly and recorded together, off the path of each request.
import type { ExchangeOutcome, Observer } from '../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import type { EpochMs, MonotonicMs } from '../../policy/contract.ts';
import type { Spans } from '../traces/spans.ts';

const MOST_HELD = 64;
const LONGEST_HELD_MS = 200;

/** `at`: the instant the answer ended. `durationMs`: from the request's first line to there. */
export type RecordRequest = (
  facts: ExchangeFacts,
  outcome: ExchangeOutcome,
  at: EpochMs,
  durationMs: number,
) => void;

export interface EndedRequests extends Observer {
  /** Records what is held now. */
  readonly record: () => void;
  /** Records it, and holds nothing back any longer. */
  readonly close: () => void;
}

interface EndedRequest extends ExchangeFacts {
  readonly outcome: ExchangeOutcome;
  readonly at: EpochMs;
  readonly durationMs: number;
}

export interface EndedRequestsOptions {
  readonly wallClock: () => EpochMs;
  readonly monotonic: () => MonotonicMs;
  readonly spans: Spans | undefined;
  readonly recordOne: RecordRequest;
  /** Writes what the records have become. */
  readonly flush: () => void;
}

export function createEndedRequests(options: EndedRequestsOptions): EndedRequests {
  const { wallClock, monotonic, spans, recordOne, flush } = options;
  let held: EndedRequest[] = [];
  let timer: NodeJS.Timeout | undefined;
  const record = (): void => {
    const all = held;
    held = [];
    for (const ended of all) recordOne(ended, ended.outcome, ended.at, ended.durationMs);
  };
  const write = (): void => {
    timer = undefined;
    record();
    flush();
  };
  return {
    onAnswer: (facts, outcome) => {
      const { start, decision, completion } = facts;
      const at = wallClock();
      const durationMs = Math.max(0, monotonic() - start.startedAt);
      spans?.end(facts, outcome);
      // A claim of an idempotency key may still be settled, which writes into the completion.
      held.push({ start, decision, completion: { ...completion }, outcome, at, durationMs });
      // What was refused or left may still be decided on, which writes into the decision.
      const isForwarded = completion.refusal === undefined && completion.fault === undefined;
      if (!isForwarded || outcome.aborted || held.length >= MOST_HELD) record();
      // Not unref'd: a process that ends by itself still writes its last lines.
      timer ??= setTimeout(write, LONGEST_HELD_MS);
    },
    record,
    close: () => {
      clearTimeout(timer);
      record();
    },
  };
}
