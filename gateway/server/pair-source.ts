// One key pair with where it comes from: the last usable state of its files.
// public-certificates.ts holds one for each configured pair, or one for the self-signed pair.
import { stat } from 'node:fs/promises';
import type { KeyPair } from './certificates.ts';

export interface PairSource {
  /** The last one that could be used. */
  readonly pair: () => KeyPair;
  /** Reads the files, and says whether they hold another pair. Rejects when they hold none; the one before stays. */
  readonly read: () => Promise<boolean>;
  /** Whether the files are no longer those that were last read, usable or not. */
  readonly wasTouched: () => Promise<boolean>;
  /** Whether what was last read could not be used. */
  readonly isBehind: () => boolean;
}

/** Reads once. Rejects as `load` does. */
export async function openPairSource(
  files: readonly string[],
  load: () => Promise<KeyPair>,
): Promise<PairSource> {
  // Taken before the files are read: what is written meanwhile shows in the next one.
  let stamp = await stampOf(files);
  let pair = await load();
  let behind = false;
  return {
    pair: () => pair,
    isBehind: () => behind,
    wasTouched: async () => (await stampOf(files)) !== stamp,
    read: async () => {
      stamp = await stampOf(files);
      behind = true;
      const next = await load();
      behind = false;
      const isOther =
        next.cert !== pair.cert ||
        next.key !== pair.key ||
        next.clients?.authorities !== pair.clients?.authorities;
      pair = next;
      return isOther;
    },
  };
}

/** Changes with whatever is done to the files behind the links, and with what the links lead to. */
async function stampOf(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(stampOfOne))).join(' ');
}

async function stampOfOne(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    // Gone, or not to be seen: reading it says why.
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}
