// The site of docs/: navigation from the tables of docs/README.md, local search, no outside requests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '..');

interface Item {
  readonly text: string;
  readonly link: string;
}

/** One group for each heading of the first page, with the pages that it links. */
function groupsOf(first: string): { readonly text: string; readonly items: readonly Item[] }[] {
  return first
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: Array.from(section.matchAll(/\[([^\]]+)\]\(([\w/-]+)\.md\)/g), ([, title = '', page]) => ({
        text: title.charAt(0).toUpperCase() + title.slice(1),
        link: `/${page}`,
      })),
    }));
}

function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

const groups = groupsOf(readFileSync(join(DOCS, 'README.md'), 'utf8'));

export default {
  title: 'Sundial',
  description: 'An API gateway that enforces API lifecycle policy.',
  // No request for a favicon.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  rewrites: { 'README.md': 'index.md' },
  // Anchors of headings as GitHub makes them, so that one link works in both places.
  markdown: { anchor: { slugify: slugOf } },
  themeConfig: {
    nav: groups.map(({ text, items }) => ({ text, link: items[0]?.link ?? '/' })),
    sidebar: groups,
    outline: [2, 3],
    search: { provider: 'local' },
  },
};
