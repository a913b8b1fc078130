// Remembers what a load has read, to find out later, without parsing, whether the files are still the same.
// Made by load.ts; used once, when the watch of the files begins.
import { digest, findFiles, type ReadFile, readCapped, tryRead } from './files.ts';

export interface RememberedReads {
  readonly readFile: ReadFile;
  /** Whether every file that was read is the same, and `patterns` match no other file. Works once. */
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
