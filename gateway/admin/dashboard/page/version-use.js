// The use of one version: the effect of retiring it today, calls by day, consumers and operations.
import { h } from './elements.js';
import { listTable } from './listing.js';
import { figures, moreThan, note, section, stageBadge } from './parts.js';
import { trend } from './trend.js';
import { ago, away, consumerAddress, counted, date, daysTo, number, trendWords } from './words.js';

/** @param {any} detail @param {any} usage */
export function useOf(detail, usage) {
  const { now, version, days, impact } = detail;
  const [use] = usage.versions;
  const tables = [
    (use?.operations.length > 0 || version.operations.length > 0) &&
      section('Operations', operations(use, version, now)),
  ];
  if (impact.refused.consumers + impact.spared.consumers === 0)
    return [
      section(
        'Consumers',
        h('p', {}, noCallWords(detail)),
        note(answersWords(detail)),
        ...countNotes(detail, use),
      ),
      ...tables,
    ];
  return [
    h('div', { class: 'pair' }, impactBox(detail, use), section('Calls by day', trend(days))),
    section('Consumers', callers(usage, detail), note(answersWords(detail))),
    ...tables,
  ];
}

/** @param {any} detail @param {any} use */
function countNotes({ countedSince, now }, use) {
  return [
    `Calls are counted since ${date(countedSince)}, ${away(countedSince, now)}.`,
    ...(use === undefined ? [] : [`Verdict: ${use.summary}.`]),
    ...(use?.decides?.summaries ?? []).map((/** @type {string} */ each) => `${each}.`),
  ].map((line) => note(line));
}

/** All requests in the metrics of this process, refused ones too. @param {any} detail */
export function answersWords({ answers }) {
  if (answers.length === 0) return 'No requests for this version since this gateway started.';
  const all = answers.reduce(
    (/** @type {number} */ sum, /** @type {any} */ { requests }) => sum + requests,
    0,
  );
  const each = answers.map(
    (/** @type {any} */ { status, requests }) => `${number(requests)} with ${statusWords(status)}`,
  );
  return `Since this gateway started: ${counted(all, 'request')} for this version, ${each.join(', ')}.`;
}

/** @param {string} status */
function statusWords(status) {
  /** @type {Record<string, string>} */
  const words = {
    401: '401 (no known caller)',
    410: '410 (past its sunset, or a brownout)',
    301: '301 (redirected to another version)',
  };
  return words[status] ?? status;
}

/** The text if no call is recorded, by which calls the ledger records. @param {any} detail */
function noCallWords({ recorded, countedSince, now }) {
  const when =
    daysTo(countedSince, now) > -30 ? `since ${date(countedSince)}, when recording began` : 'in 30 days';
  /** @type {Record<string, string>} */
  const words = {
    all: `No calls ${when}.`,
    operations: `No calls of its deprecated operations ${when}. Other calls are not recorded.`,
    exceptions: `No calls by an exception ${when}. Refused calls are not recorded.`,
  };
  return words[recorded] ?? '';
}

/** @param {any} detail @param {any} use */
function impactBox(detail, use) {
  const { version, impact } = detail;
  const { refused, spared } = impact;
  const ended = version.stage === 'sunset' || version.stage === 'retired';
  const answer = version.after.to === null ? '410 Gone' : `a redirect to ${version.after.to}`;
  const met = `${counted(refused.consumers, 'consumer')} with ${counted(refused.calls, 'call')} in 30 days`;
  const effects = [
    refused.consumers > 0 && `${met} ${ended ? 'get' : 'would get'} ${answer}.`,
    spared.consumers > 0 &&
      `${counted(spared.consumers, 'consumer')} with ${counted(spared.calls, 'call')} ${ended ? 'have' : 'would keep'} access through an exception.`,
  ];
  return h(
    'section',
    { class: `impact ${refused.consumers > 0 ? 'near' : ''}`, 'data-key': 'impact' },
    h('h2', {}, ended ? 'Effect of its sunset' : 'If it were retired today'),
    ...effects.filter((line) => line !== false).map((line) => h('p', { class: 'lead' }, line)),
    ...countNotes(detail, use),
  );
}

/** @param {any} usage @param {any} detail */
function callers({ consumers, versions }, detail) {
  const { version, now } = detail;
  const operationsOf = (/** @type {any} */ each) =>
    version.operations.length === 0
      ? ''
      : each.operations.map((/** @type {any} */ { operation }) => operation ?? unnamed(version)).join(', ');
  const heads = [
    'Consumer',
    'Identified by',
    figures('Calls in 30 days'),
    figures('Week on week'),
    'Last call',
    'Operations',
  ];
  return h(
    'div',
    {},
    listTable({
      ...{ key: '', name: 'consumers', caption: 'Consumers', heads, rows: consumers },
      find: (each) => `${each.consumer} ${operationsOf(each)}`,
      filters: { 'Identified by': ({ via }) => via },
      sorts: {
        Consumer: ({ consumer }) => consumer,
        'Calls in 30 days': ({ calls }) => calls,
        'Last call': ({ lastCall }) => lastCall,
      },
      cells: (each) => [
        h('a', { href: consumerAddress(each.consumer) }, each.consumer),
        each.via,
        number(each.calls),
        trendWords(each.trend),
        ago(each.lastCall, now),
        operationsOf(each),
      ],
      empty: noCallWords(detail),
    }),
    moreThan(consumers, versions),
  );
}

/** Requests that match no operation of the policy. @param {any} version */
function unnamed({ operations: named }) {
  return named.length === 0 ? 'all requests' : 'other requests';
}

/** @param {any} use @param {any} version @param {string} now */
function operations(use, version, now) {
  /** @type {any[]} */
  const called = use?.operations ?? [];
  const declared = new Map(version.operations.map((/** @type {any} */ own) => [own.operation, own.stage]));
  const uncalled = [...declared.keys()]
    .filter((operation) => !called.some((each) => each.operation === operation))
    .map((operation) => ({
      operation,
      consumers: 0,
      calls: 0,
      trend: { week: 0, weekBefore: 0 },
      lastCall: null,
    }));
  const heads = [
    'Operation',
    'Stage',
    figures('Consumers'),
    figures('Calls in 30 days'),
    figures('Week on week'),
    'Last call',
  ];
  return listTable({
    ...{
      key: 'operations',
      name: 'operations',
      caption: 'Operations',
      heads,
      rows: [...called, ...uncalled],
    },
    find: ({ operation }) => operation ?? unnamed(version),
    filters: { Stage: ({ operation }) => declared.get(operation) ?? '' },
    sorts: {
      Operation: ({ operation }) => operation,
      Consumers: ({ consumers }) => consumers,
      'Calls in 30 days': ({ calls }) => calls,
      'Last call': ({ lastCall }) => lastCall,
    },
    cells: ({ operation, consumers, calls, trend: change, lastCall }) => [
      operation ?? unnamed(version),
      declared.has(operation) ? stageBadge(declared.get(operation)) : '',
      number(consumers),
      number(calls),
      trendWords(change),
      lastCall === null ? 'none recorded' : ago(lastCall, now),
    ],
    empty: 'No calls in 30 days.',
  });
}
