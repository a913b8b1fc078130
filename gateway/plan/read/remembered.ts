// What a load has read, so that it can be told later whether the same still stands there, without parsing it again.
// Made by load.ts; asked once, when the watch of the files begins.
import { digest, findFiles, type ReadFile, readCapped, tryRead } from './files.ts';

export interface RememberedReads {
  readonly readFile: ReadFile;
  /** Whether every file that was read is the same, and `patterns` match no other. To be asked once: it forgets. */
  readonly stillHold: (patterns: readonly string[]) => Promise<boolean>;
}

interface Found {
  readonly mostBytes: number | undefined;
  /** Undefined for a file that could not be read. */
  readonly digest: string | undefined;
}

export function rememberReads(readFile: ReadFile): RememberedReads {
  const known = new Map<string, Found>();
  // Requests are served meanwhile.
  const digestOf = async (path: string, mostBytes?: number): Promise<string | undefined> => {
    const read = await tryRead(path, readCapped, mostBytes);
    return read.kind === 'read' ? digest([read.bytes]) : undefined;
  };
  return {
    readFile: async (path, mostBytes) => {
      known.set(path, { mostBytes, digest: undefined });
      const bytes = await readFile(path, mostBytes);
      known.set(path, { mostBytes, digest: digest([bytes]) });
      return bytes;
    },
    stillHold: async (patterns) => {
      const { files } = await findFiles(patterns);
      if (!files.every((file) => known.has(file))) return false;
      for (const [path, found] of known)
        if ((await digestOf(path, found.mostBytes)) !== found.digest) return false;
      known.clear();
      return true;
    },
  };
}
