// Counts the calls of one deprecated version per named consumer, for a bounded number of consumers.
import type { Consumer } from '../../policy/authentication/access.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { NONE, OTHER } from './request-labels.ts';

/** Per version. */
export const CONSUMERS_CAP = 200;
const LABEL_CAP = 128;
/** Milliseconds without a call until a consumer is dropped. */
export const IDLE_MS = 35 * 24 * 60 * 60 * 1000;

export interface ConsumerTally {
  /** False if the call was counted under `other` because the cap is reached. */
  readonly count: (consumer: Consumer | undefined, at: EpochMs) => boolean;
  /** Drops consumers without a call for 35 days, and returns the rest. */
  readonly counts: (at: EpochMs) => Iterable<readonly [consumer: string, calls: number]>;
}

export function createConsumerTally(): ConsumerTally {
  const named = new Map<string, { calls: number; last: EpochMs }>();
  let unnamed = 0;
  let others = 0;
  return {
    count: (consumer, at) => {
      // Ids of subjects and addresses are unbounded and personal, so they are never a label.
      if (consumer === undefined || !consumer.mayLabelMetrics) {
        unnamed += 1;
        return true;
      }
      const label = named.has(consumer.id) ? consumer.id : labelOf(consumer.id);
      const known = named.get(label);
      if (known !== undefined) {
        known.calls += 1;
        known.last = at;
        return true;
      }
      if (named.size >= CONSUMERS_CAP) {
        others += 1;
        return false;
      }
      named.set(label, { calls: 1, last: at });
      return true;
    },
    *counts(at) {
      for (const [label, entry] of named) {
        if (at - entry.last > IDLE_MS) named.delete(label);
        else yield [label, entry.calls];
      }
      if (unnamed > 0) yield [NONE, unnamed];
      if (others > 0) yield [OTHER, others];
    },
  };
}

/** The exposition format cannot escape control characters, and an id may be as long as a token. */
function labelOf(id: string): string {
  return id
    .slice(0, LABEL_CAP)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '�');
}
