// One version: who still calls it and what of it, how that goes by day, and whom its retirement today would meet.
// Shown by dashboard.js for /dashboard/version?api=…&version=…
import { ask, unlessAway } from './ask.js';
import { h, outside } from './elements.js';
import { facts, figures, note, section, stageBadge, table } from './parts.js';
import { pauseBox } from './pause.js';
import { timeline } from './timeline.js';
import { answersWords, useOf } from './version-use.js';
import { away, consumerAddress, date, nameOf, number } from './words.js';

export const title = 'Version';

/** @param {URLSearchParams} query */
const which = (query) => ({ api: query.get('api') ?? '', version: query.get('version') ?? '' });

/** @param {URLSearchParams} query */
export function subject(query) {
  return nameOf(which(query)).trim() || null;
}

/** What a version is and whom it has paused is told without the ledger. @param {import('./dashboard.js').Look} look */
export async function look({ query, standing, session, again }) {
  const { api, version: label } = which(query);
  const version = standing.apis
    .flatMap((/** @type {any} */ each) => each.versions)
    .find((/** @type {any} */ each) => each.api === api && each.version === label);
  if (version === undefined) return { missing: 'The policies have no such version.' };
  const path = `/-/versions/${encodeURIComponent(api)}/${encodeURIComponent(label)}`;
  const usage = new URLSearchParams({ api, version: label, since: '30d', most: '100' });
  const [kept, held] = await Promise.all([
    unlessAway(Promise.all([ask(path), ask(`/-/usage?${usage}`)])),
    unlessAway(ask('/-/overrides')),
  ]);
  const overrides = held.told?.overrides.filter(
    (/** @type {any} */ each) => each.api === api && (each.version === null || each.version === label),
  );
  return { now: standing.now, version, kept, overrides, session, again };
}

/** @param {any} seen */
export function view({ now, version, kept, overrides, session, again }) {
  const [detail, usage] = kept.told ?? [];
  const [use] = usage?.versions ?? [];
  return [
    h('h1', {}, nameOf(version), ' ', stageBadge(version.stage)),
    section('Its life', timeline([version], now, { link: false }), dates(version, now)),
    ...(detail !== undefined && detail.recorded !== 'none'
      ? useOf(detail, usage)
      : [
          section(
            'Who calls it',
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
    ? 'Not recorded: the ledger records who calls what is deprecated.'
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
  const heads = ['Consumer', 'Leave from', 'Until', 'Why', 'By', figures('Calls in 30 days')];
  return table('Exceptions', heads, rows, '');
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
    rest > 0 && note(`and ${rest} more`),
  );
}
