// Who still calls one deprecated version: a bounded count per named consumer.
import type { Consumer } from '../../policy/authentication/access.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { NONE, OTHER } from './request-labels.ts';

/** Of one version. */
export const CONSUMERS_CAP = 200;
const LABEL_CAP = 128;
/** Consumers without a call for longer are dropped. */
export const IDLE_MS = 35 * 24 * 60 * 60 * 1000;

export interface ConsumerTally {
  /** Returns false when the consumer was counted under `other` because the cap is reached. */
  readonly count: (consumer: Consumer | undefined, at: EpochMs) => boolean;
  /** Forgets consumers that have been idle for 35 days, then lists the rest. */
  readonly counts: (at: EpochMs) => Iterable<readonly [consumer: string, calls: number]>;
}

export function createConsumerTally(): ConsumerTally {
  const named = new Map<string, { calls: number; last: EpochMs }>();
  let unnamed = 0;
  let others = 0;
  return {
    count: (consumer, at) => {
      // An id that is no application's (a subject, an address) would be unbounded and personal: never a label.
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

/** Control characters have no escape in the exposition format, and an id may be as long as a token. */
function labelOf(id: string): string {
  return id
    .slice(0, LABEL_CAP)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '�');
}
