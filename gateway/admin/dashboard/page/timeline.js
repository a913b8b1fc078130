// The lives of versions on one axis of time: a bar each, today's line through all of them, notice, brownouts, sunset.
// A drawing for the eyes; the words beside it say the same. Used by the overview and by the page of a version.
import { h, s } from './elements.js';
import { addressOf, away, date, nameOf } from './words.js';

/** @typedef {{ from: number, until: number }} Axis */

/**
 * @param {readonly any[]} versions
 * @param {string} now
 * @param {{ link?: boolean }} [options]
 */
export function timeline(versions, now, { link = true } = {}) {
  const axis = axisOf(versions, now);
  return h(
    'div',
    { class: 'timeline' },
    h('div', { class: 'row head', 'aria-hidden': 'true' }, h('div', {}), years(axis, now)),
    ...versions.map((version) =>
      h(
        'div',
        { class: 'row', 'data-key': nameOf(version) },
        h(
          'div',
          { class: 'name' },
          link ? h('a', { href: addressOf(version) }, nameOf(version)) : nameOf(version),
        ),
        h(
          'div',
          { class: 'life' },
          todayLine(axis, now),
          bar(version, axis),
          h('p', { class: 'note' }, inWords(version, now)),
        ),
      ),
    ),
    legend(versions),
  );
}

/**
 * Whole years, so that the axis begins with a 1 January.
 *
 * @param {readonly any[]} versions
 * @param {string} now
 * @returns {Axis}
 */
function axisOf(versions, now) {
  const instants = versions.flatMap(({ phases, announced, published }) => [
    ...phases.flatMap((/** @type {any} */ phase) => [phase.from, phase.until]),
    announced,
    published,
  ]);
  const told = [now, ...instants.filter((at) => at !== null)].map((at) => Number(at.slice(0, 4)));
  return { from: newYear(Math.min(...told)), until: newYear(Math.max(...told) + 1) };
}

/** @param {number} year */
function newYear(year) {
  return Date.UTC(year, 0, 1);
}

/**
 * @param {Axis} axis
 * @param {string} now
 */
function years(axis, now) {
  const first = Number(new Date(axis.from).toISOString().slice(0, 4));
  const count = Number(new Date(axis.until).toISOString().slice(0, 4)) - first;
  const all = Array.from({ length: count }, (_, index) => first + index);
  const today = place(now, axis);
  return s(
    'svg',
    { class: 'years', width: '100%', height: 36 },
    ...all.map((year) =>
      s('line', { class: 'year', ...upright(place(`${year}-01-01T00:00:00Z`, axis)), y1: 18, y2: 36 }),
    ),
    ...all.map((year) => s('text', { x: `${place(`${year}-01-01T00:00:00Z`, axis)}%`, dx: 4, y: 33 }, year)),
    s('line', { class: 'today', ...upright(today), y1: 4, y2: 36 }),
    s(
      'text',
      {
        class: 'today',
        x: `${today}%`,
        y: 12,
        dx: today > 50 ? -5 : 5,
        'text-anchor': today > 50 ? 'end' : 'start',
      },
      `today, ${date(now.slice(0, 10))}`,
    ),
  );
}

/**
 * Through the whole row, so that it is one line through all of them.
 *
 * @param {Axis} axis
 * @param {string} now
 */
function todayLine(axis, now) {
  const line = s('line', { class: 'today', ...upright(place(now, axis)), y1: 0, y2: '100%' });
  return s('svg', { class: 'now', width: '100%', height: '100%', 'aria-hidden': 'true' }, line);
}

/**
 * @param {any} version
 * @param {Axis} axis
 */
function bar(version, axis) {
  const { phases, brownouts, deprecated, announced, published, sunset, freeze } = version;
  const notice = announced ?? deprecated;
  const at = (/** @type {string} */ instant) => `${place(instant, axis)}%`;
  return s(
    'svg',
    { class: 'bar', width: '100%', height: 34, role: 'presentation' },
    ...phases
      .filter((/** @type {any} */ { stage }) => stage !== 'planned')
      .map((/** @type {any} */ phase) =>
        span(phase, axis, { class: `phase ${phase.stage}`, y: 6, height: 18 }),
      ),
    notice !== null && sunset !== null
      ? span({ from: notice, until: sunset }, axis, { class: 'notice', y: 27, height: 3 })
      : null,
    ...brownouts.map((/** @type {any} */ { from }) =>
      s('rect', { class: 'brownout', x: at(from), y: 3, width: 2, height: 24 }),
    ),
    freeze !== null ? s('line', { class: 'freeze', ...upright(place(freeze, axis)), y1: 3, y2: 27 }) : null,
    published !== null && published !== sunset
      ? s('line', { class: 'published', ...upright(place(published, axis)), y1: 3, y2: 27 })
      : null,
    sunset !== null ? s('line', { class: 'sunset', ...upright(place(sunset, axis)), y1: 1, y2: 33 }) : null,
  );
}

/**
 * @param {{ from: string | null, until: string | null }} stretch
 * @param {Axis} axis
 * @param {Readonly<Record<string, string | number>>} attributes
 */
function span({ from, until }, axis, attributes) {
  const left = from === null ? 0 : place(from, axis);
  const right = until === null ? 100 : place(until, axis);
  return s('rect', { ...attributes, x: `${left}%`, width: `${Math.max(0, right - left)}%` });
}

/** @param {number} percent */
function upright(percent) {
  return { x1: `${percent}%`, x2: `${percent}%` };
}

/**
 * In percent of the axis.
 *
 * @param {string} instant
 * @param {Axis} axis
 */
function place(instant, { from, until }) {
  const part = (Date.parse(instant) - from) / (until - from);
  return Math.round(Math.min(1, Math.max(0, part)) * 100_000) / 1000;
}

/**
 * @param {any} version
 * @param {string} now
 */
export function inWords(
  { stage, released, deprecated, sunset, retired, published, brownouts, paused, held },
  now,
) {
  const ended = stage === 'sunset' || stage === 'retired';
  const said = [stage];
  if (stage === 'planned' && released !== null)
    said.push(`to be released ${date(released)}, ${away(released, now)}`);
  if (deprecated !== null && !ended)
    said.push(`${stage === 'deprecated' ? 'since' : 'deprecated from'} ${date(deprecated)}`);
  if (sunset !== null) said.push(`${ended ? 'ended' : 'ends'} ${date(sunset)}, ${away(sunset, now)}`);
  if (published !== null && published !== sunset) said.push(`first meant for ${date(published)}`);
  if (retired !== null && retired !== sunset) said.push(`retired ${date(retired)}`);
  const [next] = ended ? [] : brownouts;
  if (next !== undefined) said.push(`next brownout ${date(next.from)}`);
  if (paused) said.push('paused by an operator');
  if (held) said.push('held by its guard');
  return said.join(' · ');
}

/** @param {readonly any[]} versions */
function legend(versions) {
  const has = (/** @type {(version: any) => boolean} */ test) => versions.some(test);
  const marks = [
    ['active', 'active'],
    ['deprecated', 'deprecated'],
    ['retired', 'ended'],
    ...(has(({ sunset }) => sunset !== null) ? [['sunset-mark', 'sunset']] : []),
    ...(has(({ deprecated, sunset }) => deprecated !== null && sunset !== null)
      ? [['notice-mark', 'notice']]
      : []),
    ...(has(({ brownouts }) => brownouts.length > 0) ? [['brownout-mark', 'brownout']] : []),
    ...(has(({ published, sunset }) => published !== null && published !== sunset)
      ? [['published-mark', 'sunset before it was extended']]
      : []),
    ...(has(({ freeze }) => freeze !== null) ? [['freeze-mark', 'closed to new consumers']] : []),
  ];
  return h(
    'p',
    { class: 'legend', 'aria-hidden': 'true' },
    ...marks.map(([kind, text]) => h('span', {}, h('i', { class: kind }), text)),
  );
}
