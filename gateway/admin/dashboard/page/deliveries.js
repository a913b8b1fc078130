// The deliveries of a subscription, newest first, each with its attempts.
import { h } from './elements.js';
import { listTable } from './listing.js';
import { badge } from './parts.js';
import { replayForm } from './replay.js';
import { ago, counted, instant, until } from './words.js';

/** @type {Readonly<Record<string, string>>} */
const KINDS = { delivered: 'good', pending: 'near', dead: 'bad' };

/**
 * @param {string} subscription
 * @param {readonly any[]} deliveries
 * @param {string} clock
 * @param {{ signedIn: boolean }} session
 * @param {() => void} again
 */
export function deliveryTable(subscription, deliveries, clock, session, again) {
  const cells = (/** @type {any} */ each) => [
    h('code', {}, each.delivery),
    each.type,
    h(
      'span',
      {},
      badge(KINDS[each.state] ?? 'calm', each.state),
      each.reason !== null && ` ${reasonWords(each.reason)}`,
    ),
    ago(each.created, clock),
    each.nextAttempt === null ? '' : until(each.nextAttempt, clock),
    attempts(each),
    each.state !== 'pending' && session.signedIn ? replayForm(subscription, each, again) : '',
  ];
  return listTable({
    ...{ key: 'deliveries', name: 'deliveries', caption: 'Deliveries', rows: deliveries, cells },
    heads: ['Delivery', 'Event', 'State', 'Created', 'Next attempt', 'Attempts', ''],
    find: ({ delivery, type, reason }) => `${delivery} ${type} ${reason ?? ''}`,
    filters: { Event: ({ type }) => type },
    sorts: { Event: ({ type }) => type, Created: ({ created }) => created },
    empty: 'No deliveries.',
  });
}

/** @param {string} reason */
function reasonWords(reason) {
  return reason.replaceAll('_', ' ');
}

/** @param {any} delivery */
function attempts({ delivery, attempts: all, replays }) {
  if (all.length === 0) return 'none yet';
  const replayed = replays === 0 ? '' : `, ${counted(replays, 'replay')}`;
  return h(
    'details',
    { 'data-key': `attempts ${delivery}` },
    h('summary', {}, `${counted(all.length, 'attempt')}${replayed}`),
    h(
      'ol',
      { class: 'attempts' },
      ...all.map((/** @type {any} */ { at, outcome, status, message, milliseconds }) =>
        h(
          'li',
          {},
          `${instant(at)}: ${outcome}${status === null ? '' : `, status ${status}`}, ${milliseconds} ms. ${message}`,
        ),
      ),
    ),
  );
}
