// The use of one version: whom its retirement today would meet, its calls by day, who makes them, and of what.
// Part of the page of a version, where its calls are counted.
import { h } from './elements.js';
import { figures, moreThan, note, section, stageBadge, table } from './parts.js';
import { trend } from './trend.js';
import { ago, away, consumerAddress, counted, date, daysTo, number, trendWords } from './words.js';

/** @param {any} detail @param {any} usage */
export function useOf(detail, usage) {
  const { now, version, days } = detail;
  const [use] = usage.versions;
  return [
    h('div', { class: 'pair' }, impactBox(detail, use), section('Calls by day', trend(days))),
    section('Who still calls it', callers(usage, detail), note(answersWords(detail))),
    section('Operations', operations(use, version, now)),
  ];
}

/** What the metrics have seen, of whomever it came and however it was answered. @param {any} detail */
export function answersWords({ answers }) {
  if (answers.length === 0) return 'Since this gateway started it has answered no request for this version.';
  const all = answers.reduce(
    (/** @type {number} */ sum, /** @type {any} */ { requests }) => sum + requests,
    0,
  );
  const each = answers.map(
    (/** @type {any} */ { status, requests }) => `${number(requests)} with ${statusWords(status)}`,
  );
  return `Since this gateway started it has answered ${counted(all, 'request')} for this version: ${each.join(', ')}.`;
}

/** @param {string} status */
function statusWords(status) {
  /** @type {Record<string, string>} */
  const words = {
    401: '401, without a known caller',
    410: '410, refused for its end or a brownout',
    301: '301, sent to another version',
  };
  return words[status] ?? status;
}

/** Where no call is recorded: what that says. @param {any} detail */
function noCallWords({ recorded, countedSince, now }) {
  const when =
    daysTo(countedSince, now) > -30 ? `since ${date(countedSince)}, when recording began` : 'in 30 days';
  /** @type {Record<string, string>} */
  const words = {
    all: `Nobody has called it ${when}.`,
    operations: `No call of its deprecated operations was recorded ${when}. Other calls are not recorded.`,
    exceptions: `No call was let in ${when}. Refused calls are not recorded.`,
  };
  return words[recorded] ?? '';
}

/** @param {any} detail @param {any} use */
function impactBox(detail, use) {
  const { version, impact, countedSince, now } = detail;
  const { refused, spared } = impact;
  const ended = version.stage === 'sunset' || version.stage === 'retired';
  const answer = version.after.to === null ? '410 Gone' : `a redirect to ${version.after.to}`;
  const met = `${counted(refused.consumers, 'consumer')} with ${counted(refused.calls, 'call')} in 30 days`;
  const lines = [
    refused.consumers === 0 ? noCallWords(detail) : `${met} ${ended ? 'get' : 'would get'} ${answer}.`,
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

/** @param {any} usage @param {any} detail */
function callers({ consumers, versions }, detail) {
  const { version, now } = detail;
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
  return h('div', {}, table('Consumers', heads, rows, noCallWords(detail)), moreThan(consumers, versions));
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
