// The mail as HTML: the lines of its text as headings, paragraphs and a list, without images, scripts or requests.
// Called by mail.ts; every text in it is escaped, and links are made of http URLs alone.
import type { MailFrame, MailPart } from './mail-part.ts';

const LINK = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)]/g;

export function mailHtml(parts: readonly MailPart[], { opening, closing }: MailFrame): string {
  const body = parts.map(
    ({ titles, sentences, evidence }) =>
      `${titles.map((line) => `<h2>${escapeHtml(line)}</h2>\n`).join('')}<p>${sentences.map(linked).join('<br>\n')}</p>\n${evidence.map(evidenceHtml).join('')}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"></head><body>
<p>${escapeHtml(opening)}</p>
${body.join('')}<p><small>${linked(closing)}</small></p>
</body></html>
`;
}

function evidenceHtml([calls = '', ...details]: readonly string[]): string {
  const list = details.map((line) => `<li>${escapeHtml(line)}</li>\n`).join('');
  return `<p>${escapeHtml(calls)}</p>\n${list === '' ? '' : `<ul>\n${list}</ul>\n`}`;
}

function linked(text: string): string {
  let html = '';
  let from = 0;
  for (const { 0: url, index } of text.matchAll(LINK)) {
    html += `${escapeHtml(text.slice(from, index))}<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
    from = index + url.length;
  }
  return html + escapeHtml(text.slice(from));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
