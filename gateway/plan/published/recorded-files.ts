// Policy files from memory instead of from the disk: those published earlier, or those behind the plan in force.
import { resolve } from 'node:path';
import { surroundingsOfView } from '../check/views.ts';
import { contextOf, type LoadOptions, type Policies, readPolicies } from '../load-documents.ts';
import type { PublishedFile } from './record.ts';

/**
 * What is wrong in them was seen when they were accepted; what cannot be read by now is not compared with. `turn` is
 * waited for before each file.
 */
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
    // Policies of one name are read one after the other.
    if (rest.length > 0) recorded.set(path, rest);
    return new TextEncoder().encode(file.text);
  };
  const unknown = surroundingsOfView(undefined, context.now);
  const policies = files
    .filter(({ kind }) => kind === 'policy')
    .map(({ name }) => resolve(context.cwd, name));
  return readPolicies({ ...context, readFile }, policies, unknown);
}
