// Consumers: everybody who calls what is deprecated, and of one of them all that is kept.
// Shown by dashboard.js for /dashboard/consumer and /dashboard/consumer?id=…
import { ask } from './ask.js';
import { h } from './elements.js';
import { figures, moreThan, note, section, stageBadge, table, versionLink, warning } from './parts.js';
import { trend } from './trend.js';
import { ago, away, consumerAddress, counted, date, nameOf, number, trendWords } from './words.js';

export const title = 'Consumers';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** @param {URLSearchParams} query */
export function subject(query) {
  return query.get('id')?.trim() || null;
}

/** @param {import('./dashboard.js').Look} look */
export async function look({ query, usage, ledger, standing }) {
  const id = subject(query);
  if (id === null) return { id, usage, ledger, standing };
  return { id, usage: await ask(`/-/usage?${new URLSearchParams({ consumer: id })}`), standing };
}

/** @param {any} seen */
export function view({ id, usage, ledger, standing }) {
  if (id !== null) return one(id, usage, standing);
  return [
    h('h1', {}, 'Consumers'),
    searchForm(),
    section(
      'Who calls what is deprecated, in 30 days',
      usage === undefined ? h('p', { class: 'quiet' }, sentence(ledger)) : everybody(usage),
    ),
  ];
}

/** @param {string} words */
function sentence(words) {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}

/** A form of the browser's own: it leads to the page of that consumer. */
function searchForm() {
  return h(
    'form',
    { class: 'card', action: '/dashboard/consumer', 'data-own': true, 'data-key': 'search' },
    h('label', { for: 'id' }, 'Look for a consumer'),
    h('input', { id: 'id', name: 'id', required: true, autocomplete: 'off' }),
    ' ',
    h('button', { type: 'submit' }, 'Look'),
  );
}

/** @param {any} usage */
function everybody({ consumers, versions, now, recording }) {
  const rows = consumers.map((/** @type {any} */ each) => [
    h('a', { href: consumerAddress(each.consumer) }, each.consumer),
    versionLink(each),
    number(each.calls),
    trendWords(each.trend),
    ago(each.lastCall, now),
  ]);
  const heads = ['Consumer', 'Version', figures('Calls in 30 days'), figures('Week on week'), 'Last call'];
  const empty = recording ? 'Nobody.' : 'Who calls is not recorded.';
  return h('div', {}, table('Consumers', heads, rows, empty), moreThan(consumers, versions));
}

/** @param {string} id @param {any} usage @param {any} standing */
function one(id, { records, versions, now, next }, standing) {
  const days = byDay(records, now);
  const all = standing.apis.flatMap((/** @type {any} */ api) => api.versions);
  return [
    h('h1', {}, id),
    next !== null &&
      warning(
        'calm',
        `More is kept than is shown: days and operations are of the first ${counted(records.length, 'record')}. `,
        h('code', {}, 'sundial usage --consumer … --format json'),
        ' has the rest.',
      ),
    section('What it calls', calledVersions(versions, all, now)),
    section('Calls by day', trend(days)),
    section('By operation', operations(records, now)),
    note(h('a', { href: '/dashboard/consumer' }, 'All consumers')),
  ];
}

/** @param {readonly any[]} versions @param {readonly any[]} all @param {string} now */
function calledVersions(versions, all, now) {
  const rows = versions.map((use) => {
    const version = all.find(({ api, version: label }) => api === use.api && label === use.version);
    const leave = use.exceptions.map((/** @type {any} */ each) => each.summary).join('; ');
    return [
      versionLink(use),
      stageBadge(use.stage),
      version?.sunset == null ? 'no sunset' : `${date(version.sunset)}, ${away(version.sunset, now)}`,
      number(use.calls),
      trendWords(use.trend),
      use.lastCall === null ? 'never' : ago(use.lastCall, now),
      leave,
    ];
  });
  const heads = [
    'Version',
    'Stage',
    'Ends',
    figures('Calls kept'),
    figures('Week on week'),
    'Last call',
    'Leave',
  ];
  return table('Versions', heads, rows, 'The ledger has nothing of it: it calls nothing that is deprecated.');
}

/** @param {readonly any[]} records @param {string} now */
function operations(records, now) {
  const rows = records.map(
    ({ api, version, operation, via, callsByDay, firstCall, lastCall, agents, sample }) => [
      [nameOf({ api, version }), operation ?? ''].join(' ').trim(),
      via,
      number(Object.values(callsByDay).reduce((/** @type {number} */ sum, calls) => sum + Number(calls), 0)),
      date(firstCall.slice(0, 10)),
      ago(lastCall, now),
      agents.join(', '),
      sample === null ? '' : `${sample.method} ${sample.template}, request ${sample.requestId}`,
    ],
  );
  const heads = [
    'Operation',
    'Known by',
    figures('Calls kept'),
    'First call',
    'Last call',
    'User agents',
    'A request',
  ];
  return h('div', {}, table('Records', heads, rows, 'None.'), note(counted(records.length, 'record')));
}

/** @param {readonly any[]} records @param {string} now */
function byDay(records, now) {
  const today = Math.floor(Date.parse(now) / DAY_MS);
  return Array.from({ length: DAYS + 1 }, (_, index) => {
    const day = new Date((today - DAYS + index) * DAY_MS).toISOString().slice(0, 10);
    return { day, calls: records.reduce((sum, { callsByDay }) => sum + (callsByDay[day] ?? 0), 0) };
  });
}
