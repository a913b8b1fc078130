// An instant on the command line: a date, or a full instant with its offset.
// Shared by every command that judges at another day than today.
import { InvalidArgumentError } from 'commander';
import type { EpochMs } from '../policy/contract.ts';
import { parseInstant } from '../policy/notation.ts';

/** An instant for the lifecycle clock, and how it was written. */
export interface MovedTo {
  readonly at: EpochMs;
  readonly text: string;
}

/** @throws InvalidArgumentError, which commander prints as wrong usage */
export function readMovedTo(text: string): MovedTo {
  const at = parseInstant(text);
  if (at === undefined)
    throw new InvalidArgumentError('Write a date such as 2026-11-20, or an instant with offset.');
  return { at, text };
}
