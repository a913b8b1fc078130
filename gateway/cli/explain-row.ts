// One decision of a request, as `explain` shows it.
// Made by explain-decisions.ts and its rooms, printed by explain-text.ts and as JSON.
import type { Origin } from '../plan/read/document.ts';

export interface Decision {
  readonly step: string;
  readonly value: string;
  readonly detail: string;
  /** What was not passed and is taken to be so. */
  readonly assumed: string | undefined;
  readonly origin: Origin | undefined;
}
