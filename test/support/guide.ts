// Parses a guide into steps: files, commands and their output, in the order of the page.
import { type Ended, operate, type Surroundings } from './command.ts';
import { readPage } from './readme-text.ts';

export type GuideStep =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | { readonly kind: 'command'; readonly line: string }
  /** What the command before it prints. */
  | { readonly kind: 'output'; readonly text: string };

/** Groups: language, text, and the path if the block is a file. */
const FENCE = /^```(\w*)\n((?:# ((?:config|policies)\/\S+)\n)?.*?)^```$/gms;

/** A block that begins with its path is a file. `sh` blocks have commands, `text` blocks their output. */
export function readGuide(page: string): readonly GuideStep[] {
  const fences = readPage(page).matchAll(FENCE);
  return Array.from(fences).flatMap(([, language, text = '', path]): GuideStep[] => {
    if (path !== undefined) return [{ kind: 'file', path, text }];
    if (language === 'text') return [{ kind: 'output', text }];
    if (language !== 'sh') return [];
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => ({ kind: 'command', line }));
  });
}

function wordsOf(line: string): readonly string[] {
  return Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word);
}

/** Runs `npx sundial …` with `folder` as working directory. */
export async function operateIn(folder: string, line: string, setting: Surroundings = {}): Promise<Ended> {
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await operate(wordsOf(line).slice(2), setting);
  } finally {
    process.chdir(before);
  }
}
