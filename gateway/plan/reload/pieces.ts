// The part of a plan that comes from one policy file. A reload recompiles it if its digest changed.
import type { PolicyFile } from '../../sections/policy-file.ts';
import type { ApiPlan } from '../plan.ts';
import type { PublishedFile } from '../published/record.ts';
import { digest } from '../read/files.ts';
import type { Settings } from '../settings.ts';

interface Piece {
  /** Over the file and every file that it includes or names. */
  readonly digest: string;
  readonly files: readonly PublishedFile[];
}

/** Checked and not compiled. Plain data: threads pass it to each other. */
export interface ReadPiece extends Piece {
  readonly file: PolicyFile;
}

export interface PlanPiece extends Piece {
  readonly api: ApiPlan;
  /** The file that it was compiled from, if workers need it. */
  readonly file: PolicyFile | undefined;
}

/** Whether the process that reads the files sends them to workers. */
export function keepsFiles({ workers }: Settings): boolean {
  return workers !== 1;
}

export function revisionOf(settingsRevision: string, digests: readonly string[]): string {
  return digest([settingsRevision, ...digests]);
}
