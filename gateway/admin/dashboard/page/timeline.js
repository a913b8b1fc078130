// The timeline: a bar for each version on one axis, beside the same dates in words.
import { axisOf, isOn, place, upright, years } from './axis.js';
import { h, s } from './elements.js';
import { note } from './parts.js';
import { addressOf, away, date, nameOf } from './words.js';

/** @typedef {import('./axis.js').Axis} Axis */

/**
 * @param {readonly any[]} versions
 * @param {readonly any[]} all the versions that the axis has room for, so that all pages of a list have the same axis
 * @param {string} now
 * @param {{ link?: boolean }} [options]
 */
export function timeline(versions, all, now, { link = true } = {}) {
  if (versions.length === 0) return h('p', { class: 'quiet' }, 'No versions match.');
  const axis = axisOf(all, now);
  return h(
    'div',
    { class: 'timeline' },
    h('div', { class: 'row head', 'aria-hidden': 'true' }, h('div', {}), years(axis, now), h('div', {})),
    h(
      'ul',
      {},
      ...versions.map((version, index) =>
        row(version, axis, now, { link, isFirst: isFirst(versions, index) }),
      ),
    ),
    legend(versions, axis),
  );
}

/** Returns whether an API other than the first begins here. @param {readonly any[]} versions @param {number} index */
function isFirst(versions, index) {
  return index > 0 && versions[index - 1].api !== versions[index].api;
}

/**
 * @param {any} version
 * @param {Axis} axis
 * @param {string} now
 * @param {{ link: boolean, isFirst: boolean }} how
 */
function row(version, axis, now, { link, isFirst: first }) {
  const name = nameOf(version);
  return h(
    'li',
    { class: first ? 'row first' : 'row', 'data-key': name },
    h('div', { class: 'name' }, link ? h('a', { href: addressOf(version) }, name) : name),
    h('div', { class: 'life' }, todayLine(axis, now), bar(version, axis)),
    note(...inWords(version, now)),
  );
}

/**
 * As high as the row, so that the lines of all rows join.
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
  return s(
    'svg',
    { class: 'bar', width: '100%', height: 24, role: 'presentation' },
    ...phases
      .filter((/** @type {any} */ { stage }) => stage !== 'planned')
      .map((/** @type {any} */ phase) =>
        span(phase, axis, { class: `phase ${phase.stage}`, y: 4, height: 14 }),
      ),
    notice !== null && sunset !== null
      ? span({ from: notice, until: sunset }, axis, { class: 'notice', y: 20, height: 3 })
      : null,
    ...brownouts
      .filter((/** @type {any} */ { from }) => isOn(from, axis))
      .map((/** @type {any} */ { from }) =>
        s('rect', { class: 'brownout', x: `${place(from, axis)}%`, y: 2, width: 2, height: 18 }),
      ),
    mark('freeze', freeze, axis, [2, 20]),
    published !== sunset && mark('published', published, axis, [2, 20]),
    mark('sunset', sunset, axis, [0, 24]),
  );
}

/**
 * @param {string} kind
 * @param {string | null} instant
 * @param {Axis} axis
 * @param {readonly [number, number]} reach
 */
function mark(kind, instant, axis, [y1, y2]) {
  if (instant === null || !isOn(instant, axis)) return null;
  return s('line', { class: kind, ...upright(place(instant, axis)), y1, y2 });
}

/**
 * @param {{ from: string | null, until: string | null }} stretch
 * @param {Axis} axis
 * @param {Readonly<Record<string, string | number>>} attributes
 */
function span({ from, until }, axis, attributes) {
  const left = from === null ? 0 : place(from, axis);
  const right = until === null ? 100 : place(until, axis);
  return right > left && s('rect', { ...attributes, x: `${left}%`, width: `${right - left}%` });
}

/**
 * @param {any} version
 * @param {string} now
 */
function inWords(
  { stage, released, deprecated, sunset, retired, published, brownouts, brownoutUntil, paused, held },
  now,
) {
  const ended = stage === 'sunset' || stage === 'retired';
  const said = [];
  if (stage === 'planned' && released !== null)
    said.push(`to be released ${date(released)}, ${away(released, now)}`);
  if (stage === 'active' && released !== null) said.push(`since ${date(released)}`);
  if (deprecated !== null && !ended)
    said.push(`${stage === 'deprecated' ? 'since' : 'deprecated from'} ${date(deprecated)}`);
  if (sunset !== null) said.push(`${ended ? 'ended' : 'ends'} ${date(sunset)}, ${away(sunset, now)}`);
  if (published !== null && published !== sunset) said.push(`originally ${date(published)}`);
  if (retired !== null && retired !== sunset) said.push(`retired ${date(retired)}`);
  const [next] = ended ? [] : brownouts;
  if (brownoutUntil !== null) said.push(`in a brownout until ${date(brownoutUntil)}`);
  else if (next !== undefined) said.push(`next brownout ${date(next.from)}`);
  if (paused) said.push('paused by an operator');
  if (held) said.push('held by its guard');
  return [h('strong', { class: stage }, stage), said.length > 0 && ` ${said.join(' · ')}`];
}

/** @param {readonly any[]} versions @param {Axis} axis */
function legend(versions, { clipped }) {
  const has = (/** @type {(version: any) => boolean} */ test) => versions.some(test);
  const hasPhase = (/** @type {string[]} */ ...stages) =>
    has(({ phases }) => phases.some((/** @type {any} */ { stage }) => stages.includes(stage)));
  const marks = [
    ...(hasPhase('active') ? [['active', 'active']] : []),
    ...(hasPhase('deprecated') ? [['deprecated', 'deprecated']] : []),
    ...(hasPhase('sunset', 'retired') ? [['retired', 'ended']] : []),
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
    clipped && h('span', {}, 'dates outside the axis stand in the words'),
  );
}
