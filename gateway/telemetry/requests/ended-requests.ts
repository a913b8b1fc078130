// Buffers ended requests and records them together, after their responses.
import type { ExchangeOutcome, Observer } from '../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import type { EpochMs, MonotonicMs } from '../../policy/contract.ts';
import type { Spans } from '../traces/spans.ts';

const MAX_HELD = 64;
const LONGEST_HELD_MS = 200;

/** `at`: the end of the response. `durationMs`: from the request's first line to `at`. */
export type RecordRequest = (
  facts: ExchangeFacts,
  outcome: ExchangeOutcome,
  at: EpochMs,
  durationMs: number,
) => void;

export interface EndedRequests extends Observer {
  readonly record: () => void;
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
      // The claim of an idempotency key may be settled later, which changes the completion.
      held.push({ start, decision, completion: { ...completion }, outcome, at, durationMs });
      // `decide` may still run for a refused or disconnected request, and change the decision.
      const isForwarded = completion.refusal === undefined && completion.fault === undefined;
      if (!isForwarded || outcome.aborted || held.length >= MAX_HELD) record();
      // Not unref'd, so that a process that ends by itself still writes its last lines.
      timer ??= setTimeout(write, LONGEST_HELD_MS);
    },
    record,
    close: () => {
      clearTimeout(timer);
      record();
    },
  };
}
