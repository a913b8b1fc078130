// Reads code and imports of source files by lexical rules, because TypeScript 7 has no compiler API.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

export interface SourceFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  readonly from: string;
  /** A path like `SourceFile.path` or a package specifier. `(computed)` for `import(variable)`. */
  readonly to: string;
  readonly relative: boolean;
  readonly typeOnly: boolean;
}

export function readSources(root: string, folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => posix.join(folder, name.split(sep).join('/')))
      .filter((path) => /\.(ts|js|mjs|cjs)$/.test(path))
      .sort()
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  );
}

const DECLARATION =
  /(?:^|[;\n}])\s*(?:import|export)\s+(type\s+)?([\w$*\s,]*(?:\{[^}]*\})?)\s*from\s*(["'])([^"']+)\3/g;
const BARE = /(?:^|[;\n}])\s*import\s*(["'])([^"']+)\1/g;
const CALL = /(?:\bimport|\brequire)\s*\(\s*(?:(["'])([^"']+)\1)?/g;

/** A cache: many rules read the same file. */
const known = new WeakMap<SourceFile, { imports?: readonly Import[]; code?: string }>();

export function importsOf(file: SourceFile): readonly Import[] {
  const kept = known.getOrInsertComputed(file, () => ({}));
  kept.imports ??= findImports(file);
  return kept.imports;
}

function findImports({ path, text }: SourceFile): Import[] {
  const code = mask(text, { strings: false });
  const found = (specifier: string, typeOnly: boolean): Import => {
    const relative = specifier.startsWith('.');
    const to = relative ? posix.join(posix.dirname(path), specifier) : specifier;
    return { from: path, to, relative, typeOnly };
  };
  return [
    ...code
      .matchAll(DECLARATION)
      .map(([, type, names = '', , specifier = '']) =>
        found(specifier, type !== undefined || onlyTypes(names)),
      ),
    ...code.matchAll(BARE).map(([, , specifier = '']) => found(specifier, false)),
    ...code.matchAll(CALL).map(([, , specifier]) => found(specifier ?? '(computed)', false)),
  ];
}

function onlyTypes(names: string): boolean {
  const list = /^\{([^}]*)\}$/.exec(names.trim())?.[1];
  const each =
    list
      ?.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '') ?? [];
  return each.length > 0 && each.every((name) => name.startsWith('type '));
}

/** The text with comments, string contents and regular expressions blanked; line numbers stay the same. */
export function codeOf(file: SourceFile): string {
  const kept = known.getOrInsertComputed(file, () => ({}));
  kept.code ??= mask(file.text, { strings: true });
  return kept.code;
}

const LINE_COMMENT = /\/\/[^\n]*/y;
const BLOCK_COMMENT = /\/\*[\s\S]*?\*\//y;
const STRING = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y;
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*/y;
const REGULAR_EXPRESSION = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
/** After these a slash starts a regular expression; after anything else it divides. */
const BEFORE_EXPRESSION =
  /(?:^|[=(,:;[!&|?{}+\-*%<>~^]|\b(?:return|typeof|case|in|of|yield|await|void|delete))\s*$/;

function mask(text: string, { strings }: { readonly strings: boolean }): string {
  let out = '';
  let at = 0;
  /** Brace depth at which each open `${` ends. */
  const templates: number[] = [];
  let depth = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined) at += match.length;
    return match;
  };
  const blank = (taken: string): string => taken.replace(/[^\n]/g, ' ');
  const template = (): void => {
    const inside = take(TEMPLATE_TEXT) ?? '';
    out += strings ? blank(inside) : inside;
    const hole = text[at] === '$';
    out += hole ? '${' : (text[at] ?? '');
    at += hole ? 2 : 1;
    if (hole) templates.push(depth++);
  };

  while (at < text.length) {
    const comment = take(LINE_COMMENT) ?? take(BLOCK_COMMENT);
    if (comment !== undefined) {
      out += blank(comment);
      continue;
    }
    const string = take(STRING);
    if (string !== undefined) {
      out += strings ? `${string[0]}${blank(string.slice(1, -1))}${string.at(-1)}` : string;
      continue;
    }
    const expression =
      text[at] === '/' && BEFORE_EXPRESSION.test(out.trimEnd()) ? take(REGULAR_EXPRESSION) : undefined;
    if (expression !== undefined) {
      out += strings ? blank(expression) : expression;
      continue;
    }
    const next = text[at] ?? '';
    out += next;
    at += 1;
    if (next === '`') template();
    else if (next === '{') depth += 1;
    else if (next === '}') {
      depth -= 1;
      if (templates.at(-1) === depth) {
        templates.pop();
        template();
      }
    }
  }
  return out;
}
