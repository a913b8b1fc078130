// The finding of a gateway file whose pattern leads to no policy: where it was looked for, or why it could not be.
// For a start and for a reload.
import { dirname, relative, resolve } from 'node:path';
import type { Problem } from './problems.ts';
import type { SourceDocument } from './read/document.ts';

/** `why`: what kept the pattern from being looked for. */
export function nothingMatched(
  { configFile, cwd }: { readonly configFile: string; readonly cwd: string },
  gateway: SourceDocument,
  why: string | undefined,
): Problem {
  const path = ['policies'];
  const pattern = gateway.isSecret(path) ? undefined : gateway.written(path);
  const looked = pattern && relative(cwd, resolve(dirname(configFile), pattern));
  const hint = looked && `looked for ${looked}: a pattern is relative to this file`;
  const message = why === undefined ? 'no policy file matches' : `cannot look for policy files: ${why}`;
  return gateway.problem(path, { rule: 'policies', message, hint });
}
