// The lifecycle of one API as a self-contained HTML page that works without styles and has no scripts.
import { createHash } from 'node:crypto';
import type { Guide } from '../../plan/guides/guide-page.ts';
import { spanInWords } from '../../policy/spans.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { LifecycleDocument, OperationEntry, VersionEntry } from './lifecycle-document.ts';
import type { LifecycleEntry, PlannedBrownout, PublishedIdempotency } from './lifecycle-entry.ts';

const STYLE = [
  ':root{color-scheme:light dark}',
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}',
  '.wide{overflow-x:auto}',
  'table{border-collapse:collapse;width:100%}',
  'th,td{border-bottom:1px solid #8888;padding:.4rem .6rem;text-align:left;vertical-align:top}',
  '.deprecated{font-weight:bold}',
  'article{border-top:1px solid #8888;margin-top:2rem;overflow-x:auto}',
  'pre{overflow-x:auto;padding:.6rem;border:1px solid #8888}',
].join('');

/** Forbids scripts, loads, frames and forms. The digest allows the one style. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const DATES = ['released', 'deprecated', 'sunset', 'retired'] as const;

const OF_VERSIONS = {
  title: 'versions and their life',
  rows: 'Versions',
  row: 'Version',
  subject: 'a version',
};
const OF_AN_API = { title: 'its life', rows: 'Dates', row: 'API', subject: 'the API' };

/** `guides`: all guides of the API. The page shows only those that an entry links to. */
export function lifecycleHtml(document: LifecycleDocument, guides: readonly Guide[]): string {
  const { api, stage, next_change: next, versions, url, calendar, feed } = document;
  const then = next === undefined ? '' : `, ${next.stage} from ${time(next.at)}`;
  const isWhole = versions.every(({ version }) => version === UNVERSIONED);
  const words = isWhole ? OF_AN_API : OF_VERSIONS;
  const title = escapeHtml(`${api}: ${words.title}`);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="alternate" type="application/atom+xml" href="${escapeHtml(feed)}">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>As a whole this API is <strong class="${stage}">${stage}</strong>${then}.</p>
<div class="wide" role="region" aria-label="${words.rows}" tabindex="0">
<table>
<caption>Dates are days in UTC. From its sunset ${words.subject} no longer answers.</caption>
<thead><tr><th scope="col">${words.row}</th><th scope="col">Stage</th>${DATES.map((date) => `<th scope="col">${capital(date)}</th>`).join('')}<th scope="col">Next</th><th scope="col">What to do</th></tr></thead>
<tbody>
${versions.flatMap((version) => rowsOf(version, url)).join('\n')}
</tbody>
</table>
</div>
<p>${anchor(calendar, 'Calendar of these dates')}. Programs get the dates as JSON at the same address.</p>
${changelogOf(document)}${articlesOf(document, guides).join('')}</main>
</body>
</html>
`;
}

function changelogOf({ announcements, feed }: LifecycleDocument): string {
  const items = announcements.map(
    ({ at, updated, title, text }) =>
      `<li>${time(at)} <strong>${escapeHtml(title)}</strong>${updated === undefined ? '' : `, updated ${time(updated)}`}${text.map((each) => `<br>${withLink(each)}`).join('')}</li>\n`,
  );
  return items.length === 0
    ? ''
    : `<h2>Changelog</h2>\n<ul>\n${items.join('')}</ul>\n<p>${anchor(feed, 'As a feed')}</p>\n`;
}

function withLink(sentence: string): string {
  const [, before = sentence, url] = /^(.*: )(https?:\/\/\S+)$/.exec(sentence) ?? [];
  return url === undefined ? escapeHtml(sentence) : `${escapeHtml(before)}${anchor(url, url)}`;
}

function articlesOf({ url, versions }: LifecycleDocument, guides: readonly Guide[]): readonly string[] {
  const entries = versions.flatMap((version) => [version, ...(version.operations ?? [])]);
  const named = new Set(entries.map((entry) => entry.migration_guide));
  return guides.flatMap(({ id, html }) =>
    named.has(`${url}#${id}`) ? `<article id="${escapeHtml(id)}">\n${html}</article>\n` : [],
  );
}

function rowsOf(version: VersionEntry, self: string): readonly string[] {
  const { operations = [], status, service_doc: doc, service_desc: desc, support, changelog } = version;
  const more = [
    ...(status === undefined || status === self ? [] : [anchor(status, 'Status')]),
    ...(doc === undefined ? [] : [anchor(doc, 'Documentation')]),
    ...(desc === undefined ? [] : [anchor(desc, 'Description for programs')]),
    ...(support === undefined ? [] : [supportText(support)]),
    ...(changelog === undefined ? [] : [anchor(changelog, 'Changelog')]),
  ];
  return [
    row(version.version === UNVERSIONED ? 'All of it' : version.version, version, more),
    ...operations.map((operation) =>
      row(`${version.version} ${operation.operation}`, operation, notesOn(operation)),
    ),
  ];
}

function idempotencyText({ methods, required, keep_seconds: kept }: PublishedIdempotency): string {
  const must = required ? 'need' : 'may have';
  return `${methods.join(', ')} ${must} an Idempotency-Key, kept for ${spanInWords(0, kept * 1000)}`;
}

function supportText({ level, until }: NonNullable<VersionEntry['support']>): string {
  const end = until === undefined ? '' : ` until ${time(until)}`;
  return level === undefined ? `Supported${end}` : `Support: ${escapeHtml(level)}${end}`;
}

function notesOn({ introduced, breaking_changes: changes = [] }: OperationEntry): readonly string[] {
  return [
    ...(introduced === undefined ? [] : [`Introduced ${time(introduced)}`]),
    ...changes.map((change) => `Breaking change: ${escapeHtml(change)}`),
  ];
}

function row(name: string, entry: LifecycleEntry, more: readonly string[]): string {
  const { stage, next_change: next, successor, alternate, migration_guide: guide, reason } = entry;
  const [brownout] = entry.brownouts ?? [];
  const { paused_until: held, maintenance_until: maintained } = entry;
  const operation = entry.successor_operation === undefined ? [] : [entry.successor_operation];
  const advice = [
    ...(maintained === undefined ? [] : [`Down for maintenance until ${time(maintained)}`]),
    ...(held === undefined ? [] : [`Brownouts and retirement are on hold until ${time(held)}`]),
    ...(reason === undefined ? [] : [escapeHtml(reason)]),
    ...(successor === undefined ? [] : [`Move to ${escapeHtml([successor, ...operation].join(' '))}`]),
    ...(alternate === undefined ? [] : [anchor(alternate, 'What may serve instead')]),
    ...(guide === undefined ? [] : [anchor(guide, 'Migration guide')]),
    ...(brownout === undefined ? [] : [`Next brownout: ${brownoutText(brownout)}`]),
    ...(entry.idempotency === undefined ? [] : [idempotencyText(entry.idempotency)]),
    ...more,
  ];
  const cells = [
    `<span class="${stage}">${capital(stage)}</span>`,
    ...DATES.map((date) => time(entry[date])),
    next === undefined ? '' : `${capital(next.stage)} on ${time(next.at)}`,
    advice.join('<br>'),
  ];
  return `<tr><th scope="row">${escapeHtml(name)}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function brownoutText({ from, until, share }: PlannedBrownout): string {
  const some = share === undefined ? '' : `, for ${Math.round(share * 100)}% of the callers`;
  return `${time(from)} to ${time(until)}${some}`;
}

function time(instant: string | undefined): string {
  if (instant === undefined) return '';
  const shown = instant.endsWith('T00:00:00Z') ? instant.slice(0, 10) : instant.replace('T', ' ');
  return `<time datetime="${escapeHtml(instant)}">${escapeHtml(shown)}</time>`;
}

/** The reader of guides, status pages and changelogs accepts only http and https URLs. */
function anchor(href: string, text: string): string {
  return `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
