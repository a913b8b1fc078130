// The time axis of the timeline: its years, and the position of an instant on it.
import { s } from './elements.js';
import { date } from './words.js';

/** @typedef {{ from: number, until: number, clipped: boolean }} Axis */

/** A version that lasts for decades would leave no room for the others. */
const MAX_YEARS_BEFORE = 5;
const MAX_YEARS_AFTER = 5;
const MAX_LABELS = 8;

/**
 * Whole years: the axis begins on a 1 January.
 *
 * @param {readonly any[]} versions
 * @param {string} now
 * @returns {Axis}
 */
export function axisOf(versions, now) {
  const instants = versions.flatMap(({ phases, announced, published }) => [
    ...phases.flatMap((/** @type {any} */ phase) => [phase.from, phase.until]),
    announced,
    published,
  ]);
  const today = yearOf(now);
  const all = [today, ...instants.filter((at) => at !== null).map(yearOf)];
  const [first, last] = [Math.min(...all), Math.max(...all)];
  const from = Math.max(first, today - MAX_YEARS_BEFORE);
  const until = Math.min(last, today + MAX_YEARS_AFTER);
  return {
    from: newYear(from),
    until: newYear(until + 1),
    clipped: first < from || last > until,
  };
}

/** @param {string} instant */
function yearOf(instant) {
  return new Date(instant).getUTCFullYear();
}

/** @param {number} year */
function newYear(year) {
  return Date.parse(`${String(year).padStart(4, '0')}-01-01T00:00:00Z`);
}

/**
 * @param {Axis} axis
 * @param {string} now
 */
export function years(axis, now) {
  const first = new Date(axis.from).getUTCFullYear();
  const count = new Date(axis.until).getUTCFullYear() - first;
  const all = Array.from({ length: count }, (_, index) => first + index);
  const at = (/** @type {number} */ year) => placeOf(newYear(year), axis);
  const step = Math.ceil(count / MAX_LABELS);
  const labels = all.filter((_, index) => index % step === 0);
  const today = place(now, axis);
  return s(
    'svg',
    { class: 'years', width: '100%', height: 36 },
    ...all.map((year) => s('line', { class: 'year', ...upright(at(year)), y1: 20, y2: 36 })),
    ...labels.map((year) => s('text', { x: `${at(year)}%`, dx: 4, y: 32 }, year)),
    s('line', { class: 'today', ...upright(today), y1: 4, y2: 36 }),
    s(
      'text',
      {
        class: 'today',
        x: `${today}%`,
        y: 13,
        dx: today > 50 ? -6 : 6,
        'text-anchor': today > 50 ? 'end' : 'start',
      },
      `today, ${date(now.slice(0, 10))}`,
    ),
  );
}

/** @param {number} percent */
export function upright(percent) {
  return { x1: `${percent}%`, x2: `${percent}%` };
}

/**
 * In percent of the axis.
 *
 * @param {string} instant
 * @param {Axis} axis
 */
export function place(instant, axis) {
  return placeOf(Date.parse(instant), axis);
}

/** @param {number} at @param {Axis} axis */
function placeOf(at, { from, until }) {
  const part = (at - from) / (until - from);
  return Math.round(Math.min(1, Math.max(0, part)) * 100_000) / 1000;
}

/** @param {string} instant @param {Axis} axis */
export function isOn(instant, { from, until }) {
  const at = Date.parse(instant);
  return at >= from && at <= until;
}
