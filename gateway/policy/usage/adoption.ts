// What is asked of the ledger about a frozen version: whether somebody is new to it.
// The port is owned here; stores/adoption.ts answers it, the pipeline and `explain` ask.
import type { EpochMs, MaybePromise } from '../contract.ts';

/** Who calls what, as the ledger has it. */
export interface Adopter {
  readonly consumer: string;
  readonly api: string;
  readonly version: string;
}

/** What is known of who came when. Instants are those of the lifecycle clock. */
export interface Adoption {
  /** Of a call before its version was frozen: who has made one is known here from then on, before any store has heard of it. */
  readonly saw: (adopter: Adopter, now: EpochMs) => void;
  /**
   * Whether a consumer was first seen on a version at `freeze` or later, or never. False as well where nobody can know:
   * the store is away, or counts calls of the version only since then. Never rejects.
   */
  readonly isLate: (adopter: Adopter, freeze: EpochMs, now: EpochMs) => MaybePromise<boolean>;
}
