// Consumers: everybody who calls what is deprecated, and of one of them all that is kept.
// Shown by dashboard.js for /dashboard/consumer and /dashboard/consumer?id=…
import { ask } from './ask.js';
import { h } from './elements.js';
import { section, stageBadge, table } from './parts.js';
import { trend } from './trend.js';
import { addressOf, ago, away, consumerAddress, counted, date, nameOf, number, trendWords } from './words.js';

export const title = 'Consumers';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** @param {import('./dashboard.js').Look} look */
export async function look({ query, usage, standing }) {
  const id = query.get('id');
  if (id === null) return { id, usage, standing };
  return { id, usage: await ask(`/-/usage?${new URLSearchParams({ consumer: id })}`), standing };
}

/** @param {any} seen */
export function view({ id, usage, standing }) {
  if (id !== null) return one(id, usage, standing);
  return [
    h('h1', {}, 'Consumers'),
    searchForm(),
    section('Who calls what is deprecated, in 30 days', everybody(usage)),
  ];
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
function everybody({ consumers, now, next, recording }) {
  const byName = Map.groupBy(consumers, (/** @type {any} */ { consumer }) => consumer);
  const rows = [...byName]
    .map(([consumer, uses]) => ({
      consumer,
      calls: uses.reduce((/** @type {number} */ sum, /** @type {any} */ use) => sum + use.calls, 0),
      last: uses
        .map((/** @type {any} */ { lastCall }) => lastCall)
        .toSorted()
        .at(-1),
      versions: uses.map((/** @type {any} */ use) => h('a', { href: addressOf(use) }, nameOf(use))),
    }))
    .toSorted((one, other) => other.calls - one.calls)
    .map(({ consumer, calls, last, versions }) => [
      h('a', { href: consumerAddress(consumer) }, consumer),
      number(calls),
      h('span', {}, ...versions.flatMap((link, index) => (index === 0 ? [link] : [', ', link]))),
      ago(last, now),
    ]);
  const empty = recording ? 'Nobody.' : 'Who calls is not recorded.';
  const more =
    next !== null &&
    h('p', { class: 'note' }, 'These are not all: sundial usage --csv writes the whole list.');
  return h(
    'div',
    {},
    table('Consumers', ['Consumer', 'Calls in 30 days', 'Of', 'Last call'], rows, empty),
    more,
  );
}

/** @param {string} id @param {any} usage @param {any} standing */
function one(id, { records, versions, now, next }, standing) {
  const days = byDay(records, now);
  const all = standing.apis.flatMap((/** @type {any} */ api) => api.versions);
  return [
    h('h1', {}, id),
    section('What it calls', calledVersions(versions, all, now)),
    section('Calls by day', trend(days)),
    section('By operation', operations(records, now)),
    next !== null &&
      h('p', { class: 'note' }, 'This is not all that is kept: sundial usage writes the rest.'),
    h('p', { class: 'note' }, h('a', { href: '/dashboard/consumer' }, 'All consumers')),
  ];
}

/** @param {readonly any[]} versions @param {readonly any[]} all @param {string} now */
function calledVersions(versions, all, now) {
  const rows = versions.map((use) => {
    const version = all.find(({ api, version: label }) => api === use.api && label === use.version);
    const leave = use.exceptions.map((/** @type {any} */ each) => each.summary).join('; ');
    return [
      h('a', { href: addressOf(use) }, nameOf(use)),
      stageBadge(use.stage),
      version?.sunset == null ? 'no sunset' : `${date(version.sunset)}, ${away(version.sunset, now)}`,
      number(use.calls),
      trendWords(use.trend),
      use.lastCall === null ? 'never' : ago(use.lastCall, now),
      leave,
    ];
  });
  const heads = ['Version', 'Stage', 'Ends', 'Calls kept', 'Week on week', 'Last call', 'Leave'];
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
    'Calls kept',
    'First call',
    'Last call',
    'User agents',
    'A request',
  ];
  return h(
    'div',
    {},
    table('Records', heads, rows, 'None.'),
    h('p', { class: 'note' }, counted(records.length, 'record')),
  );
}

/** @param {readonly any[]} records @param {string} now */
function byDay(records, now) {
  const today = Math.floor(Date.parse(now) / DAY_MS);
  return Array.from({ length: DAYS + 1 }, (_, index) => {
    const day = new Date((today - DAYS + index) * DAY_MS).toISOString().slice(0, 10);
    return { day, calls: records.reduce((sum, { callsByDay }) => sum + (callsByDay[day] ?? 0), 0) };
  });
}
