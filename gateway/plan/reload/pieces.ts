// One policy file as a part of a plan; its digest tells whether a reload must compile it again.
import type { PolicyFile } from '../../sections/policy-file.ts';
import type { ApiPlan } from '../plan.ts';
import type { PublishedFile } from '../published/record.ts';
import { digest } from '../read/files.ts';
import type { Settings } from '../settings.ts';

interface Piece {
  /** Of everything the file is made of: the same digest, the same rules. */
  readonly digest: string;
  /** The file and its descriptions, as they were written. */
  readonly files: readonly PublishedFile[];
}

/** Checked, not yet compiled; plain data that can be handed from thread to thread. */
export interface ReadPiece extends Piece {
  readonly file: PolicyFile;
}

export interface PlanPiece extends Piece {
  readonly api: ApiPlan;
  /** What it was compiled from, where there are workers to be sent it. */
  readonly file: PolicyFile | undefined;
}

/** Whether the pieces of a plan are sent on by the process that reads the files. */
export function keepsFiles({ workers }: Settings): boolean {
  return workers !== 1;
}

/** `digests`: of the pieces, in the order of the files. */
export function revisionOf(settingsRevision: string, digests: readonly string[]): string {
  return digest([settingsRevision, ...digests]);
}
