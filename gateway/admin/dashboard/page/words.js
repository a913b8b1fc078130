// Dates, counts and durations in words, in UTC and by the clock of the gateway.

const DAY_MS = 86_400_000;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** @param {number} count @param {string} noun @param {string} [plural] */
export function counted(count, noun, plural = `${noun}s`) {
  return `${number(count)} ${count === 1 ? noun : plural}`;
}

/** @param {number} count */
export function number(count) {
  return count.toLocaleString('en-US');
}

/**
 * `15 Apr 2027` in UTC, with the time if it is not midnight.
 *
 * @param {string} instant
 */
export function date(instant) {
  const [day = '', time = ''] = instant.split('T');
  const [year, month, dayOfMonth] = day.split('-').map(Number);
  const text = `${dayOfMonth} ${MONTHS[(month ?? 1) - 1]} ${year}`;
  return time === '' || time.startsWith('00:00:00') ? text : `${text}, ${time.slice(0, 5)} UTC`;
}

/**
 * Whole days from `now`. Negative in the past.
 *
 * @param {string} instant
 * @param {string} now
 */
export function daysTo(instant, now) {
  const days = (Date.parse(instant) - Date.parse(now)) / DAY_MS;
  return days < 0 ? Math.ceil(days) : Math.floor(days);
}

/**
 * `in 144 days`, `in 2 hours`, `9 days ago`.
 *
 * @param {string} instant
 * @param {string} now
 */
export function away(instant, now) {
  const days = daysTo(instant, now);
  if (days === 0) return Date.parse(instant) > Date.parse(now) ? until(instant, now) : ago(instant, now);
  return days > 0 ? `in ${counted(days, 'day')}` : `${counted(-days, 'day')} ago`;
}

/**
 * `3 minutes ago` for the past.
 *
 * @param {string} instant
 * @param {string} now
 */
export function ago(instant, now) {
  const seconds = Math.max(0, (Date.parse(now) - Date.parse(instant)) / 1000);
  return seconds < 60 ? 'just now' : `${roughly(seconds)} ago`;
}

/**
 * `in 5 minutes` for the future, `now` once it is due.
 *
 * @param {string} instant
 * @param {string} now
 */
export function until(instant, now) {
  const seconds = (Date.parse(instant) - Date.parse(now)) / 1000;
  if (seconds <= 0) return 'now';
  return seconds < 60 ? 'within a minute' : `in ${roughly(seconds)}`;
}

/** In the largest unit that fits once. @param {number} seconds */
function roughly(seconds) {
  if (seconds < 3600) return counted(Math.floor(seconds / 60), 'minute');
  if (seconds < 86_400) return counted(Math.floor(seconds / 3600), 'hour');
  return counted(Math.floor(seconds / 86_400), 'day');
}

/**
 * `20 Nov 2026, 14:03:07 UTC`.
 *
 * @param {string} at
 */
export function instant(at) {
  return `${date(at.slice(0, 10))}, ${at.slice(11, 19)} UTC`;
}

/** @param {number} milliseconds */
export function length(milliseconds) {
  const units = /** @type {const} */ ([
    ['d', DAY_MS],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ]);
  const [unit, size] = units.find(([, each]) => milliseconds >= each && milliseconds % each === 0) ?? [
    'ms',
    1,
  ];
  return `${milliseconds / size}${unit}`;
}

const LEAST = 0.1;

/** @param {number} part of 1 */
export function percent(part) {
  const whole = part * 100;
  // Rounding must not show a few as none, or most as all.
  if (whole > 0 && whole < LEAST) return `< ${LEAST} %`;
  if (whole < 100 && whole > 100 - LEAST) return `> ${100 - LEAST} %`;
  return `${whole > 0 && whole < 10 ? whole.toFixed(1) : Math.round(whole)} %`;
}

/** The label of an API without versions. */
const UNVERSIONED = 'none';

/** @param {{ api: string, version: string }} version */
export function nameOf({ api, version }) {
  return version === UNVERSIONED ? api : `${api} ${version}`;
}

/** @param {{ api: string, version: string }} version */
export function addressOf({ api, version }) {
  return `/dashboard/version?${new URLSearchParams({ api, version })}`;
}

/** @param {string} consumer */
export function consumerAddress(consumer) {
  return `/dashboard/consumer?${new URLSearchParams({ id: consumer })}`;
}

const MANY_TIMES = 10;

/**
 * `▲ 12 %` between the last seven whole days and the seven before.
 *
 * @param {{ week: number, weekBefore: number }} trend
 */
export function trendWords({ week, weekBefore }) {
  if (week === weekBefore) return week === 0 ? '–' : 'steady';
  if (weekBefore === 0) return 'new';
  if (week >= MANY_TIMES * weekBefore) return `▲ ${number(Math.round(week / weekBefore))} times`;
  const change = Math.round(((week - weekBefore) / weekBefore) * 100);
  if (change === 0) return 'steady';
  return `${change > 0 ? '▲' : '▼'} ${number(Math.abs(change))} %`;
}
