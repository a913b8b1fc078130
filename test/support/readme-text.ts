// Parses the README and its pages: code blocks, tables, code spans and sections of this project's Markdown.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export const PAGES = [
  'README.md',
  'policies/README.md',
  'config/README.md',
  'upstreams/README.md',
  'test/wire/README.md',
  ...globSync('docs/*.md', { cwd: ROOT }),
  ...globSync('docs/{start,guides,concepts,operate,reference}/*.md', { cwd: ROOT }).sort(),
];

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Whether `npm run docs` writes the page. */
export function isGenerated(page: string): boolean {
  return readPage(page).startsWith('<!-- Generated');
}

/** A code block that begins with the path of its file. */
const FILE_OF_A_GUIDE = /^```yaml\n# (?:config|policies)\//m;

/** Whether the page shows files by their path. guides.test.ts writes them into an empty folder. */
export function isGuide(page: string): boolean {
  return FILE_OF_A_GUIDE.test(readPage(page));
}

export interface Block {
  /** The info string of the fence; empty for none. */
  readonly language: string;
  readonly text: string;
  readonly section: string;
}

export interface Readme {
  readonly blocks: readonly Block[];
  /** The text without code blocks. */
  readonly prose: string;
  readonly spans: readonly string[];
  /** Tables by their first heading cell; rows of cells, without the heading. */
  readonly tables: ReadonlyMap<string, readonly (readonly string[])[]>;
}

/** All pages except guides, which have their own test, and generated pages. */
export function readReadme(): Readme {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let section = '';
  let open: { language: string; lines: string[] } | undefined;
  const pages = PAGES.filter((page) => !isGuide(page) && !isGenerated(page));
  for (const line of pages.flatMap((page) => readPage(page).split('\n'))) {
    if (line.startsWith('```')) {
      if (open === undefined) open = { language: line.slice(3).trim(), lines: [] };
      else {
        blocks.push({ language: open.language, text: `${open.lines.join('\n')}\n`, section });
        open = undefined;
      }
    } else if (open !== undefined) open.lines.push(line);
    else {
      if (line.startsWith('## ')) section = line.slice(3);
      prose.push(line);
    }
  }
  return { blocks, prose: prose.join('\n'), spans: spansOf(prose.join('\n')), tables: tablesOf(prose) };
}

export function spansOf(text: string): readonly string[] {
  return Array.from(text.matchAll(/`([^`\n]+)`/g), ([, span = '']) => span);
}

export function shellLines({ blocks }: Readme): readonly string[] {
  const shell = blocks.filter(({ language }) => language === 'sh');
  return shell.flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
}

/** Variables that set a port, with the default port in the text. */
export function writtenPorts({ prose }: Readme): ReadonlyMap<string, number> {
  const found = prose.matchAll(/`(SUNDIAL_\w+_PORT)` \((\d+)\)/g);
  return new Map(Array.from(found, ([, name = '', port]) => [name, Number(port)]));
}

export function tablesOf(lines: readonly string[]): Map<string, string[][]> {
  const tables = new Map<string, string[][]>();
  let rows: string[][] | undefined;
  for (const line of lines) {
    if (!line.startsWith('|')) rows = undefined;
    else if (rows === undefined) {
      rows = [];
      tables.set(cellsOf(line)[0] ?? '', rows);
    } else if (!/^[|\s-]+$/.test(line)) rows.push(cellsOf(line));
  }
  return tables;
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}
