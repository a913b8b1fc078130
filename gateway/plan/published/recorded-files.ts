// Reads policy files from memory: published ones, or those of the plan in force.
import { resolve } from 'node:path';
import { checkContextOfView } from '../check/views.ts';
import { contextOf, type LoadOptions, type Policies, readPolicies } from '../load-documents.ts';
import type { PublishedFile } from './record.ts';

/** Problems were judged when the files were accepted. Omits unreadable files. Awaits `turn` before each file. */
export function readRecorded(
  files: readonly PublishedFile[],
  options: LoadOptions,
  turn: () => Promise<void> | undefined = () => undefined,
): Promise<Policies> {
  const context = contextOf(options);
  const recorded = Map.groupBy(files, ({ name }) => resolve(context.cwd, name));
  const readFile = async (path: string): Promise<Uint8Array> => {
    await turn();
    const [file, ...rest] = recorded.get(path) ?? [];
    if (file === undefined) throw new TypeError('not recorded');
    // Recorded policies of one name are read one after the other.
    if (rest.length > 0) recorded.set(path, rest);
    return new TextEncoder().encode(file.text);
  };
  const unknown = checkContextOfView(undefined, context.now);
  const policies = files
    .filter(({ kind }) => kind === 'policy')
    .map(({ name }) => resolve(context.cwd, name));
  return readPolicies({ ...context, readFile }, policies, unknown);
}
