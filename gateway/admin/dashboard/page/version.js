// One version: schedule, use, exceptions, brownouts and pauses.
import { ask, unlessAway } from './ask.js';
import { h, outside } from './elements.js';
import { listTable } from './listing.js';
import { facts, figures, note, section, stageBadge, table, versionLink } from './parts.js';
import { pauseBox } from './pause.js';
import { timeline } from './timeline.js';
import { answersWords, useOf } from './version-use.js';
import { away, consumerAddress, counted, date, nameOf, number } from './words.js';

export const title = 'Version';

/** @param {URLSearchParams} query */
const which = (query) => ({ api: query.get('api') ?? '', version: query.get('version') ?? '' });

/** @param {URLSearchParams} query */
export function subject(query) {
  return nameOf(which(query)).trim() || null;
}

/** Schedule and pauses do not need the ledger. @param {import('./dashboard.js').Look} look */
export async function look({ query, standing, session, again }) {
  const { api, version: label } = which(query);
  const versions = standing.apis.find((/** @type {any} */ each) => each.api === api)?.versions ?? [];
  const version = versions.find((/** @type {any} */ each) => each.version === label);
  if (version === undefined) return { missing: unknownVersion(api, label, versions) };
  const path = `/-/versions/${encodeURIComponent(api)}/${encodeURIComponent(label)}`;
  const usage = new URLSearchParams({ api, version: label, since: '30d', most: '100' });
  const [kept, held] = await Promise.all([
    unlessAway(Promise.all([ask(path), ask(`/-/usage?${usage}`)])),
    unlessAway(ask('/-/overrides')),
  ]);
  const overrides = held.value?.overrides.filter(
    (/** @type {any} */ each) => each.api === api && (each.version === null || each.version === label),
  );
  return { now: standing.now, version, kept, overrides, session, again };
}

/** @param {string} api @param {string} label @param {readonly any[]} versions those of the API */
function unknownVersion(api, label, versions) {
  if (versions.length === 0) return ['The policies have no API ', h('code', {}, api || '""'), '.'];
  return [
    ...['The API ', h('code', {}, api), ' has no version ', h('code', {}, label || '""'), '. It has: '],
    ...versions.flatMap((each, index) => [index > 0 && ', ', versionLink(each)]),
    '.',
  ];
}

/** @param {any} seen */
export function view({ now, version, kept, overrides, session, again }) {
  const [detail, usage] = kept.value ?? [];
  const [use] = usage?.versions ?? [];
  return [
    h('h1', {}, nameOf(version), ' ', stageBadge(version.stage)),
    section('Schedule', timeline([version], [version], now, { link: false }), dates(version, now)),
    ...(detail !== undefined && detail.recorded !== 'none'
      ? useOf(detail, usage)
      : [
          section(
            'Consumers',
            h('p', { class: 'quiet' }, kept.away ?? notRecorded(detail)),
            detail !== undefined && note(answersWords(detail)),
          ),
        ]),
    use?.exceptions.length > 0 && section('Exceptions', exceptions(use)),
    version.brownouts.length > 0 && section('Brownouts to come', brownouts(version)),
    section('Pauses and holds', pauseBox({ version, overrides, now, session, again })),
  ];
}

/** @param {any} detail */
function notRecorded({ recording }) {
  return recording
    ? 'Not recorded: the ledger records only calls of deprecated versions and operations.'
    : 'Not recorded: the ledger is off.';
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
  const dated = (/** @type {string | null} */ instant) =>
    instant !== null && `${date(instant)}, ${away(instant, now)}`;
  const moves = extended.map(
    (/** @type {any} */ { to, announced: at }) => `to ${date(to)}, announced ${date(at)}`,
  );
  return facts([
    ['Released', dated(released)],
    ['Announced', dated(announced)],
    ['Deprecated', dated(deprecated)],
    ['Sunset', dated(sunset)],
    ['Original sunset', published !== sunset && dated(published)],
    ['Extended', moves.length > 0 && moves.join('; ')],
    ['Retired', retired !== sunset && dated(retired)],
    ['Closed to new consumers', dated(freeze)],
    ['Successor', successor],
    ['Reason', reason],
    ['Guide', guide !== null && outside(guide, 'migration guide')],
    ['Upstream', upstream ?? 'none'],
    ['Mode', mode === 'observe' && 'observe: the gateway refuses nothing'],
  ]);
}

/** @param {any} use */
function exceptions({ exceptions: all }) {
  const heads = ['Consumer', 'Exempt from', 'Until', 'Reason', 'By', figures('Calls in 30 days')];
  return listTable({
    ...{
      key: 'exceptions',
      name: 'exceptions',
      caption: 'Exceptions',
      heads,
      rows: all,
    },
    find: ({ consumer, why, by }) => `${consumer} ${why} ${by}`,
    sorts: {
      Consumer: ({ consumer }) => consumer,
      Until: ({ until }) => until,
      'Calls in 30 days': ({ calls }) => calls,
    },
    cells: ({ consumer, from, until, why, by, calls }) => [
      h('a', { href: consumerAddress(consumer) }, consumer),
      from.join(', '),
      date(until),
      why,
      by,
      number(calls),
    ],
    empty: '',
  });
}

/** @param {any} version */
function brownouts({ brownouts: all }) {
  const rows = all
    .slice(0, 10)
    .map((/** @type {any} */ { from, until, share }) => [
      date(from),
      date(until),
      share === null ? 'all callers' : `${share} % of the callers`,
    ]);
  const rest = all.length - rows.length;
  return h(
    'div',
    {},
    table('Brownouts', ['From', 'Until', 'Applies to'], rows, ''),
    rest > 0 && note(`${counted(rest, 'more brownout')} later.`),
  );
}
