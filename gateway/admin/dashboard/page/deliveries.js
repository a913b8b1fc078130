// The deliveries of a subscription, newest first, each with its attempts to unfold.
// Part of the page of webhooks; messages come from elsewhere and are text.
import { h } from './elements.js';
import { badge, table } from './parts.js';
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
  const rows = deliveries.map((each) => [
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
  ]);
  return table(
    'Deliveries',
    ['Delivery', 'Event', 'State', 'Made', 'Next attempt', 'Attempts', ''],
    rows,
    'There are none.',
  );
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
