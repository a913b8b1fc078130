// The consumers of deprecated versions, and all records of one consumer.
import { ask } from './ask.js';
import { h } from './elements.js';
import { listTable } from './listing.js';
import { figures, moreThan, section, stageBadge, versionLink, warning } from './parts.js';
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
      'Calls of deprecated versions in 30 days',
      usage === undefined ? h('p', { class: 'quiet' }, sentence(ledger)) : callers(usage),
    ),
  ];
}

/** @param {string} words */
function sentence(words) {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}

/** The list has only the consumers with the most calls. The form finds every consumer. */
function searchForm() {
  return h(
    'form',
    { class: 'card', action: '/dashboard/consumer', 'data-own': true, 'data-key': 'search' },
    h('label', { for: 'id' }, 'Open a consumer'),
    h(
      'div',
      { class: 'fields' },
      h('input', { id: 'id', name: 'id', required: true, autocomplete: 'off', placeholder: 'Consumer id' }),
      h('button', { type: 'submit' }, 'Open'),
    ),
  );
}

/** @param {any} usage */
function callers({ consumers, versions, now, recording }) {
  const heads = ['Consumer', 'Version', figures('Calls in 30 days'), figures('Week on week'), 'Last call'];
  return h(
    'div',
    {},
    listTable({
      ...{ key: '', name: 'consumers', caption: 'Consumers', heads, rows: consumers },
      find: (each) => `${each.consumer} ${nameOf(each)}`,
      filters: { API: ({ api }) => api },
      sorts: {
        Consumer: ({ consumer }) => consumer,
        Version: nameOf,
        'Calls in 30 days': ({ calls }) => calls,
        'Last call': ({ lastCall }) => lastCall,
      },
      cells: (each) => [
        h('a', { href: consumerAddress(each.consumer) }, each.consumer),
        versionLink(each),
        number(each.calls),
        trendWords(each.trend),
        ago(each.lastCall, now),
      ],
      empty: recording
        ? 'No consumer called a deprecated version.'
        : 'Calls are not recorded: the ledger is off.',
    }),
    moreThan(consumers, versions),
  );
}

/** @param {string} id @param {any} usage @param {any} standing */
function one(id, { records, versions, now, next }, standing) {
  const days = byDay(records, now);
  const all = standing.apis.flatMap((/** @type {any} */ api) => api.versions);
  return [
    h('p', { class: 'back note' }, h('a', { href: '/dashboard/consumer' }, 'All consumers')),
    h('h1', {}, id),
    next !== null &&
      warning(
        'calm',
        `This page has the first ${counted(records.length, 'record')} of this consumer. `,
        h('code', {}, 'sundial usage --consumer … --format json'),
        ' writes all of them.',
      ),
    section('Deprecated versions that it calls', calledVersions(versions, all, now)),
    records.length > 0 && section('Calls by day', trend(days)),
    records.length > 0 && section('By operation', operations(records, now)),
  ];
}

/** @param {readonly any[]} versions @param {readonly any[]} all @param {string} now */
function calledVersions(versions, all, now) {
  const ends = new Map(all.map((version) => [nameOf(version), version.sunset]));
  const heads = [
    'Version',
    'Stage',
    'Ends',
    figures('Calls kept'),
    figures('Week on week'),
    'Last call',
    'Exceptions',
  ];
  return listTable({
    ...{ key: '', name: 'versions', caption: 'Versions', heads, rows: versions },
    find: nameOf,
    filters: { Stage: ({ stage }) => stage ?? '' },
    sorts: {
      Version: nameOf,
      Ends: (use) => ends.get(nameOf(use)) ?? null,
      'Calls kept': ({ calls }) => calls,
      'Last call': ({ lastCall }) => lastCall,
    },
    cells: (use) => {
      const sunset = ends.get(nameOf(use)) ?? null;
      return [
        versionLink(use),
        stageBadge(use.stage),
        sunset === null ? 'no sunset' : `${date(sunset)}, ${away(sunset, now)}`,
        number(use.calls),
        trendWords(use.trend),
        use.lastCall === null ? 'none recorded' : ago(use.lastCall, now),
        use.exceptions.map((/** @type {any} */ each) => each.summary).join('; '),
      ];
    },
    empty: 'The ledger has no calls of this consumer to a deprecated version.',
  });
}

/** @param {readonly any[]} records @param {string} now */
function operations(records, now) {
  const rows = records.map((each) => ({
    ...each,
    name: [nameOf(each), each.operation ?? ''].join(' ').trim(),
    calls: Object.values(each.callsByDay).reduce(
      (/** @type {number} */ sum, calls) => sum + Number(calls),
      0,
    ),
  }));
  const heads = [
    'Operation',
    'Identified by',
    figures('Calls kept'),
    'First call',
    'Last call',
    'User agents',
    'Sample request',
  ];
  return listTable({
    ...{ key: 'operations', name: 'operations', caption: 'Records', heads, rows },
    find: ({ name, agents }) => `${name} ${agents.join(' ')}`,
    sorts: {
      Operation: ({ name }) => name,
      'Calls kept': ({ calls }) => calls,
      'First call': ({ firstCall }) => firstCall,
      'Last call': ({ lastCall }) => lastCall,
    },
    cells: ({ name, via, calls, firstCall, lastCall, agents, sample }) => [
      name,
      via,
      number(calls),
      date(firstCall.slice(0, 10)),
      ago(lastCall, now),
      agents.join(', '),
      sample === null ? '' : `${sample.method} ${sample.template}, request ${sample.requestId}`,
    ],
    empty: '',
  });
}

/** @param {readonly any[]} records @param {string} now */
function byDay(records, now) {
  const today = Math.floor(Date.parse(now) / DAY_MS);
  return Array.from({ length: DAYS + 1 }, (_, index) => {
    const day = new Date((today - DAYS + index) * DAY_MS).toISOString().slice(0, 10);
    return { day, calls: records.reduce((sum, { callsByDay }) => sum + (callsByDay[day] ?? 0), 0) };
  });
}
