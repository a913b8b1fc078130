// The limits in force and their decisions since the start.
import { ask } from './ask.js';
import { h } from './elements.js';
import { listTable } from './listing.js';
import { badge, section, stageBadge, versionLink, warning } from './parts.js';
import { length, nameOf, number } from './words.js';

export const title = 'Limits';

export async function look() {
  const [{ limits }, { store }] = await Promise.all([ask('/-/limits'), ask('/-/ready')]);
  return { limits, store };
}

/** @param {any} seen */
export function view({ limits, store }) {
  const heads = ['Version', 'Stage', 'Limit', 'Rate', 'Counted by', 'Requests since the start', 'Notes'];
  return [
    h('h1', {}, 'Limits'),
    store.state !== 'up' &&
      warning('bad', 'The store is down. Each limit follows its setting on_store_failure.'),
    section(
      'In force now',
      listTable({
        ...{ key: '', name: 'limits', caption: 'Limits', heads, rows: limits },
        find: (each) => `${nameOf(each)} ${each.operation ?? ''} ${each.limit} ${each.by}`,
        filters: { Stage: ({ stage }) => stage },
        sorts: {
          Version: nameOf,
          Rate: ({ units, windowMs }) => units / windowMs,
          'Requests since the start': ({ decisions }) => decisions.limited + decisions.allowed,
        },
        cells: (each) => [
          h('span', {}, versionLink(each), each.operation !== null && ` ${each.operation}`),
          h('span', {}, stageBadge(each.stage)),
          each.limit,
          rateWords(each),
          each.by,
          decisionsOf(each),
          notesOf(each),
        ],
        empty: 'No policy has limits.',
      }),
    ),
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
    degraded > 0 && badge('bad', `${number(degraded)} while the store was down`),
  );
}

/** @param {any} limit */
function notesOf({ shadow, exact, cost, onStoreFailure }) {
  const notes = [
    shadow && 'shadow: counts only',
    exact && 'exact',
    cost !== 1 && `${number(cost)} units per request`,
    onStoreFailure !== 'local' && `if the store is down: ${onStoreFailure}`,
  ];
  return notes.filter((note) => note !== false).join(', ');
}
