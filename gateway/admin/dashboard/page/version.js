// One version: who still calls it and what of it, how that goes by day, and whom its retirement today would meet.
// Shown by dashboard.js for /dashboard/version?api=…&version=…
import { ask } from './ask.js';
import { h, outside } from './elements.js';
import { facts, section, stageBadge, table } from './parts.js';
import { pauseBox } from './pause.js';
import { timeline } from './timeline.js';
import { trend } from './trend.js';
import { ago, away, consumerAddress, counted, date, nameOf, number, trendWords } from './words.js';

export const title = 'Version';

/** @param {import('./dashboard.js').Look} look */
export async function look({ query, session, again }) {
  const [api, version] = [query.get('api') ?? '', query.get('version') ?? ''];
  const path = `/-/versions/${encodeURIComponent(api)}/${encodeURIComponent(version)}`;
  const which = new URLSearchParams({ api, version, since: '30d' });
  const [detail, usage, held] = await Promise.all([ask(path), ask(`/-/usage?${which}`), ask('/-/overrides')]);
  const overrides = held.overrides.filter(
    (/** @type {any} */ each) => each.api === api && (each.version === null || each.version === version),
  );
  return { detail, usage, overrides, session, again };
}

/** @param {any} seen */
export function view({ detail, usage, overrides, session, again }) {
  const { now, version } = detail;
  const [use] = usage.versions;
  return [
    h('h1', {}, nameOf(version), ' ', stageBadge(version.stage)),
    section('Its life', timeline([version], now, { link: false }), dates(version, now)),
    ...(isCounted(detail)
      ? useOf(detail, usage)
      : [section('Who calls it', h('p', { class: 'quiet' }, notCounted(detail)))]),
    use?.exceptions.length > 0 && section('Exceptions', exceptions(use)),
    version.brownouts.length > 0 && section('Brownouts to come', brownouts(version)),
    section('Pauses and holds', pauseBox({ version, overrides, now, session, again })),
  ];
}

/** Whether anything is known of who calls it. @param {any} detail */
function isCounted({ recording, countedSince }) {
  return recording && countedSince !== null;
}

/** @param {any} detail */
function notCounted({ recording }) {
  return recording
    ? 'Its calls are not counted: the ledger counts those of what is deprecated. The overview has its requests.'
    : 'Not known: the ledger is off.';
}

/** @param {any} detail @param {any} usage */
function useOf(detail, usage) {
  const { now, version, days } = detail;
  const [use] = usage.versions;
  return [
    h('div', { class: 'pair' }, impactBox(detail, use), section('Calls by day', trend(days))),
    section('Who still calls it', callers(usage, now)),
    section('Operations', operations(use, version, now)),
  ];
}

/** @param {any} version @param {string} now */
function dates(
  {
    released,
    announced,
    deprecated,
    sunset,
    published,
    retired,
    freeze,
    successor,
    reason,
    guide,
    upstream,
    mode,
    extended,
  },
  now,
) {
  const told = (/** @type {string | null} */ instant) =>
    instant !== null && `${date(instant)}, ${away(instant, now)}`;
  const moves = extended.map(
    (/** @type {any} */ { to, announced: at }) => `to ${date(to)}, announced ${date(at)}`,
  );
  return facts([
    ['Released', told(released)],
    ['Announced', told(announced)],
    ['Deprecated', told(deprecated)],
    ['Sunset', told(sunset)],
    ['First meant for', published !== sunset && told(published)],
    ['Extended', moves.length > 0 && moves.join('; ')],
    ['Retired', retired !== sunset && told(retired)],
    ['Closed to new consumers', told(freeze)],
    ['Successor', successor],
    ['Because', reason],
    ['Guide', guide !== null && outside(guide, 'how to move')],
    ['Upstream', upstream ?? 'none'],
    ['Mode', mode === 'observe' && 'observed only: nothing is refused'],
  ]);
}

/** @param {any} detail @param {any} use */
function impactBox({ version, impact, countedSince, now }, use) {
  const { refused, spared } = impact;
  const ended = version.stage === 'sunset' || version.stage === 'retired';
  const answer = version.after.to === null ? '410 Gone' : `a redirect to ${version.after.to}`;
  const met = `${counted(refused.consumers, 'consumer')} with ${counted(refused.calls, 'call')} in 30 days`;
  const lines = [
    refused.consumers === 0
      ? 'Nobody: it was not called in 30 days.'
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

/** @param {any} usage @param {string} now */
function callers({ consumers, next }, now) {
  const rows = consumers
    .toSorted((/** @type {any} */ one, /** @type {any} */ other) => other.calls - one.calls)
    .map((/** @type {any} */ each) => [
      h('a', { href: consumerAddress(each.consumer) }, each.consumer),
      each.via,
      number(each.calls),
      trendWords(each.trend),
      ago(each.lastCall, now),
      each.operations.map((/** @type {any} */ { operation }) => operation ?? 'the rest').join(', '),
    ]);
  const heads = ['Consumer', 'Known by', 'Calls in 30 days', 'Week on week', 'Last call', 'Operations'];
  const more =
    next !== null &&
    h('p', { class: 'note' }, 'These are not all: sundial usage --csv writes the whole list.');
  return h('div', {}, table('Consumers', heads, rows, 'Nobody has called it in 30 days.'), more);
}

/** @param {any} use @param {any} version @param {string} now */
function operations(use, version, now) {
  const rows = (use?.operations ?? []).map((/** @type {any} */ each) => {
    const own = version.operations.find((/** @type {any} */ { operation }) => operation === each.operation);
    return [
      each.operation ?? 'no operation of the policy',
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
  const heads = ['Operation', 'Stage', 'Consumers', 'Calls in 30 days', 'Week on week', 'Last call'];
  return table('Operations', heads, [...rows, ...unused], 'No operation of it was called in 30 days.');
}

/** @param {any} use */
function exceptions({ exceptions: all }) {
  const rows = all.map((/** @type {any} */ { consumer, from, until, why, by, calls }) => [
    h('a', { href: consumerAddress(consumer) }, consumer),
    from.join(', '),
    date(until),
    why,
    by,
    number(calls),
  ]);
  return table('Exceptions', ['Consumer', 'Leave from', 'Until', 'Why', 'By', 'Calls in 30 days'], rows, '');
}

/** @param {any} version */
function brownouts({ brownouts: all }) {
  const rows = all
    .slice(0, 10)
    .map((/** @type {any} */ { from, until, share }) => [
      date(from),
      date(until),
      share === null ? 'everybody' : `${share} % of the callers`,
    ]);
  const rest = all.length - rows.length;
  return h(
    'div',
    {},
    table('Brownouts', ['From', 'Until', 'Meets'], rows, ''),
    rest > 0 && h('p', { class: 'note' }, `and ${rest} more`),
  );
}
