// The use of one version: whom its retirement today would meet, its calls by day, who makes them, and of what.
// Part of the page of a version, where its calls are counted.
import { h } from './elements.js';
import { figures, moreThan, section, stageBadge, table } from './parts.js';
import { trend } from './trend.js';
import { ago, away, consumerAddress, counted, date, daysTo, number, trendWords } from './words.js';

/** @param {any} detail @param {any} usage */
export function useOf(detail, usage) {
  const { now, version, days } = detail;
  const [use] = usage.versions;
  return [
    h('div', { class: 'pair' }, impactBox(detail, use), section('Calls by day', trend(days))),
    section('Who still calls it', callers(usage, version, now)),
    section('Operations', operations(use, version, now)),
  ];
}

/** @param {any} detail @param {any} use */
function impactBox({ version, impact, countedSince, now }, use) {
  const { refused, spared } = impact;
  const ended = version.stage === 'sunset' || version.stage === 'retired';
  const answer = version.after.to === null ? '410 Gone' : `a redirect to ${version.after.to}`;
  const met = `${counted(refused.consumers, 'consumer')} with ${counted(refused.calls, 'call')} in 30 days`;
  const lines = [
    refused.consumers === 0
      ? nobodyWords(countedSince, now)
      : `${met} ${ended ? 'get' : 'would get'} ${answer}.`,
    spared.consumers > 0 &&
      `${counted(spared.consumers, 'consumer')} with ${counted(spared.calls, 'call')} ${ended ? 'go on' : 'would go on'} by an exception.`,
    `Its calls are counted since ${date(countedSince)}, ${away(countedSince, now)}.`,
    use !== undefined && `Verdict: ${use.summary}.`,
    ...(use?.decides?.summaries ?? []).map((/** @type {string} */ each) => `${each}.`),
  ];
  const kind = refused.consumers > 0 ? 'near' : '';
  return h(
    'section',
    { class: `impact ${kind}`, 'data-key': 'impact' },
    h('h2', {}, ended ? 'Whom its end meets' : 'If it were retired today'),
    ...lines
      .filter((line) => line !== false)
      .map((line, index) => h('p', { class: index === 0 ? 'lead' : 'note' }, line)),
  );
}

/** Who was not seen may call all the same, where nobody has looked long enough. @param {string} since @param {string} now */
function nobodyWords(since, now) {
  return daysTo(since, now) > -30
    ? 'Nobody that has been seen so far.'
    : 'Nobody: it was not called in 30 days.';
}

/** @param {any} usage @param {any} version @param {string} now */
function callers({ consumers, versions }, version, now) {
  const rows = consumers.map((/** @type {any} */ each) => [
    h('a', { href: consumerAddress(each.consumer) }, each.consumer),
    each.via,
    number(each.calls),
    trendWords(each.trend),
    ago(each.lastCall, now),
    each.operations.map((/** @type {any} */ { operation }) => operation ?? unnamed(version)).join(', '),
  ]);
  const heads = [
    'Consumer',
    'Known by',
    figures('Calls in 30 days'),
    figures('Week on week'),
    'Last call',
    'Operations',
  ];
  return h(
    'div',
    {},
    table('Consumers', heads, rows, 'Nobody has called it in 30 days.'),
    moreThan(consumers, versions),
  );
}

/** What no operation of the policy names. @param {any} version */
function unnamed({ operations: named }) {
  return named.length === 0 ? 'all of it' : 'the rest';
}

/** @param {any} use @param {any} version @param {string} now */
function operations(use, version, now) {
  const rows = (use?.operations ?? []).map((/** @type {any} */ each) => {
    const own = version.operations.find((/** @type {any} */ { operation }) => operation === each.operation);
    return [
      each.operation ?? unnamed(version),
      own === undefined ? '' : stageBadge(own.stage),
      number(each.consumers),
      number(each.calls),
      trendWords(each.trend),
      ago(each.lastCall, now),
    ];
  });
  const silent = version.operations.filter(
    (/** @type {any} */ own) =>
      !use?.operations.some((/** @type {any} */ { operation }) => operation === own.operation),
  );
  const unused = silent.map((/** @type {any} */ own) => [
    own.operation,
    stageBadge(own.stage),
    '0',
    '0',
    '–',
    'never',
  ]);
  const heads = [
    'Operation',
    'Stage',
    figures('Consumers'),
    figures('Calls in 30 days'),
    figures('Week on week'),
    'Last call',
  ];
  return table('Operations', heads, [...rows, ...unused], 'No operation of it was called in 30 days.');
}
