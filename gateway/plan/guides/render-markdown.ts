// Markdown to HTML that can do nothing: raw HTML is text, links lead to the web or within the page, pictures are their
// description. Called for the guides of a policy when it is read; the page that shows it forbids scripts besides.
import { Marked, type Tokens } from 'marked';

const SAFE_LINK = /^(?:https?:\/\/|mailto:|#)/i;

const MARKED = new Marked({
  gfm: true,
  async: false,
  // What would be HTML is not taken out of the text: it is escaped with it.
  tokenizer: { html: () => undefined, tag: () => undefined },
  renderer: {
    // The page has a heading of its own above those of the guide.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 1, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    // Without styles a wide table or line is reached by the keyboard too.
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

/** Quotes within quotes; each level is read by a call within a call. */
const TOO_DEEP = /^(?:[ \t]*>){32}/m;

/** Undefined for what is nested beyond any reader; about a second at most for what read-guides.ts lets through. */
export function renderMarkdown(text: string): string | undefined {
  if (TOO_DEEP.test(text)) return undefined;
  try {
    return MARKED.parse(text, { async: false });
  } catch (error) {
    // Lists and brackets can be nested as deeply.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
