// Reads and renders the Markdown guides of a policy at load, so that requests read no files.
import { isUtf8 } from 'node:buffer';
import { dirname, resolve } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { controlIn } from '../../policy/contract.ts';
import { guideId, isGuideFile } from '../../policy/lifecycle/guide.ts';
import type { PolicyView, Report } from '../../sections/view.ts';
import type { PublishedFile } from '../published/record.ts';
import type { Path } from '../read/document.ts';
import { type ReadFile, tryRead } from '../read/files.ts';
import { LEAVES_FOLDER, leavesItsFolder, WRITE_ITS_TARGET } from '../read/links.ts';
import type { Guide } from './guide-page.ts';

/** Per guide. All guides are on one page and stay in memory with the plan. */
const MAX_BYTES = 65_536;
/** For all guides of an API, in the record of accepted policies. */
const MAX_KEPT_BYTES = 1_048_576;

interface GuideText {
  readonly path: string;
  readonly text: string;
}

interface GuideContext {
  readonly policyFile: string;
  readonly readFile: ReadFile;
  readonly shown: (path: string) => string;
}

export interface Guides {
  readonly guides: readonly Guide[];
  /** Absolute paths, readable or not. */
  readonly files: readonly string[];
  /** Source texts, which are part of the revision. */
  readonly texts: readonly GuideText[];
  /** The guides that fit into the record of accepted policies. */
  readonly kept: readonly PublishedFile[];
}

const RELATIVE = 'its path is relative to this file';

export async function readGuides(view: PolicyView, report: Report, context: GuideContext): Promise<Guides> {
  const read = new Map<string, Guide>();
  const files = new Map<string, string>();
  const texts: GuideText[] = [];
  const kept: PublishedFile[] = [];
  let room = MAX_KEPT_BYTES;
  for (const { at, guide } of guidesOf(view)) {
    const refuse = (message: string, hint?: string) =>
      report(at, { rule: 'guide', message, ...(hint !== undefined && { hint }) });
    const [id, file] = [guideId(guide), resolve(dirname(context.policyFile), guide)];
    const other = files.get(id);
    if (other !== undefined && other !== file) {
      refuse(
        `another guide has the name ${id.slice('guide-'.length)}`,
        'names must be unique on the page: rename one',
      );
      continue;
    }
    files.set(id, file);
    if (read.has(id)) continue;
    if (leavesItsFolder(context.policyFile, guide)) {
      refuse(`the guide is ${LEAVES_FOLDER}`, WRITE_ITS_TARGET);
      continue;
    }
    const found = await tryRead(file, context.readFile, MAX_BYTES);
    if (found.kind === 'unreadable') refuse(`cannot read the guide: ${found.why}`, RELATIVE);
    else if (found.bytes.byteLength > MAX_BYTES) refuse('the guide is larger than 64 KB');
    else if (!isUtf8(found.bytes)) refuse('the guide is not UTF-8');
    else {
      const text = new TextDecoder().decode(found.bytes);
      const html = renderMarkdown(text);
      const control = controlIn(text, '\t\r\n');
      if (control !== undefined) {
        const line = text.split('\n').findIndex((each) => controlIn(each, '\t\r') !== undefined) + 1;
        refuse(`the guide holds the control character ${control} in line ${line}`, 'remove it');
      } else if (html === undefined) refuse('the guide is nested too deeply');
      else read.set(id, { id, html });
      texts.push({ path: file, text });
      room -= found.bytes.byteLength;
      if (room >= 0) kept.push({ kind: 'guide', name: context.shown(file), text });
      else
        report(at, {
          rule: 'guide',
          severity: 'warning',
          message:
            'the guides of this API are larger than 1 MB together, and the store does not keep this one',
          hint: 'keep this guide: a start that refuses this file needs it to serve the last accepted form',
        });
    }
  }
  return { guides: [...read.values()], files: [...files.values()], texts, kept };
}

interface GuideReference {
  readonly at: Path;
  readonly guide: string;
}

/** The guides of the API, its versions and their operations. An inherited guide has the position in the API. */
function guidesOf({ parts, versions, unversioned }: PolicyView): readonly GuideReference[] {
  const named: { readonly at: Path; readonly guide: string | undefined }[] = [
    { at: ['guide'], guide: parts.guide },
  ];
  for (const [label, { guide, operations = {} }] of unversioned ? [] : versions) {
    named.push({ at: ['versions', label, 'guide'], guide });
    for (const [name, operation] of Object.entries(operations))
      named.push({ at: ['versions', label, 'operations', name, 'guide'], guide: operation.guide });
  }
  return named.flatMap(({ at, guide }) => (guide !== undefined && isGuideFile(guide) ? { at, guide } : []));
}

const SAFE_LINK = /^(?:https?:\/\/|mailto:|#)/i;

const MARKED = new Marked({
  gfm: true,
  async: false,
  // HTML is not parsed, so it is escaped like any text.
  tokenizer: { html: () => undefined, tag: () => undefined },
  renderer: {
    // The page has a heading above those of the guide.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 1, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    // Makes wide code scrollable by keyboard.
    code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>\n`,
    link({ href, tokens }: Tokens.Link) {
      const text = this.parser.parseInline(tokens);
      return SAFE_LINK.test(href) ? `<a href="${escapeHtml(href)}">${text}</a>` : text;
    },
    image: ({ text }) => escapeHtml(text),
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    html: ({ text }) => escapeHtml(text),
  },
});

/** Block quotes in block quotes: the parser recurses per level. */
const TOO_DEEP = /^(?:[ \t]*>){32}/m;

/** Undefined if the nesting is too deep. Takes about a second at most for the largest guide. */
export function renderMarkdown(text: string): string | undefined {
  if (TOO_DEEP.test(text)) return undefined;
  try {
    return MARKED.parse(text, { async: false });
  } catch (error) {
    // Deeply nested lists and brackets overflow the stack.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
