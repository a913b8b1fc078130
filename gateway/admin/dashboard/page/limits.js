// The limits as they are now, and what became of the requests that they counted.
// Shown by dashboard.js for /dashboard/limits.
import { ask } from './ask.js';
import { h } from './elements.js';
import { badge, section, stageBadge, table, versionLink, warning } from './parts.js';
import { length, number } from './words.js';

export const title = 'Limits';

export async function look() {
  const [{ limits }, { store }] = await Promise.all([ask('/-/limits'), ask('/-/ready')]);
  return { limits, store };
}

/** @param {any} seen */
export function view({ limits, store }) {
  const rows = limits.map((/** @type {any} */ each) => [
    h('span', {}, versionLink(each), each.operation !== null && ` ${each.operation}`),
    h('span', {}, stageBadge(each.stage)),
    each.limit,
    rateWords(each),
    each.by,
    decisionsOf(each),
    notesOf(each),
  ]);
  const heads = ['Of', 'Stage', 'Limit', 'Rate', 'Counted by', 'Requests since the start', 'Notes'];
  return [
    h('h1', {}, 'Limits'),
    store.state !== 'up' &&
      warning('bad', 'The store is away: each limit is counted as it says for that case.'),
    section('In force now', table('Limits', heads, rows, 'No policy limits anything.')),
  ];
}

/** @param {any} limit */
function rateWords({ units, windowMs, burst, full, falls }) {
  const rate = `${number(units)}/${length(windowMs)}`;
  const lowered = full === null ? '' : `, lowered from ${number(full.units)}/${length(full.windowMs)}`;
  return `${rate}${burst === units ? '' : `, burst ${number(burst)}`}${lowered}${falls ? ', falling day by day' : ''}`;
}

/** @param {any} limit */
function decisionsOf({ decisions: { allowed, limited, shadow_limited: shadow, degraded } }) {
  return h(
    'span',
    { class: 'badges' },
    `${number(allowed)} allowed `,
    limited > 0 && badge('near', `${number(limited)} refused`),
    shadow > 0 && badge('calm', `${number(shadow)} would be refused`),
    degraded > 0 && badge('bad', `${number(degraded)} without the store`),
  );
}

/** @param {any} limit */
function notesOf({ shadow, exact, cost, onStoreFailure }) {
  const notes = [
    shadow && 'refuses nothing',
    exact && 'exact',
    cost !== 1 && `${number(cost)} units a request`,
    onStoreFailure !== 'local' && `without the store: ${onStoreFailure}`,
  ];
  return notes.filter((note) => note !== false).join(', ');
}
