// The gateway file alone, for commands that talk to a running gateway: where it listens, and what opens it.
// Policies are not read, and what only a start needs (certificates) is not asked for.
import { compileSettings } from './compile/settings.ts';
import { contextOf, type LoadOptions, readGateway } from './load-documents.ts';
import { type Problem, sortProblems } from './problems.ts';
import type { Settings } from './settings.ts';

export type LoadedSettings =
  | { readonly kind: 'read'; readonly settings: Settings }
  /** The file cannot be read, or not everything in it has the form it needs. */
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[] };

export async function loadSettings(options: LoadOptions): Promise<LoadedSettings> {
  const context = contextOf(options);
  const { whole, problems, revision } = await readGateway(context);
  if (whole === undefined) return { kind: 'rejected', problems: sortProblems(problems) };
  return { kind: 'read', settings: compileSettings(whole, { ...context, revision }) };
}
