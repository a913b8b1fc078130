// The name of a plan: a digest of everything it is made of.
// Made at start on the main thread and at each reload beside it, from the same parts.
import { digest } from './read/files.ts';

/** `digests`: of the pieces, in the order of the files. */
export function revisionOf(settingsRevision: string, digests: readonly string[]): string {
  return digest([settingsRevision, ...digests]);
}
