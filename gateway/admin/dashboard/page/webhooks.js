// Webhook subscriptions with their state, and the deliveries of one subscription.
import { ask, Refused } from './ask.js';
import { deliveryTable } from './deliveries.js';
import { h } from './elements.js';
import { listTable } from './listing.js';
import { badge, facts, figures, note, section, tile } from './parts.js';
import { replayDeadForm } from './replay.js';
import { ago, counted, number, until } from './words.js';

export const title = 'Webhooks';

/** @param {URLSearchParams} query */
export function subject(query) {
  return query.get('id')?.trim() || null;
}

const WEBHOOKS = '/dashboard/webhooks';
const STATES = ['pending', 'delivered', 'dead'];

/** @param {import('./dashboard.js').Look} look */
export async function look({ query, session, again }) {
  const id = query.get('id');
  const state = STATES.find((each) => each === query.get('state')) ?? null;
  try {
    const all = await ask('/-/webhooks');
    if (id === null) return { all, session, again };
    const filter = state === null ? '' : `?${new URLSearchParams({ state })}`;
    const one = await ask(`/-/webhooks/${encodeURIComponent(id)}${filter}`);
    return { all, one, state, session, again };
  } catch (error) {
    // The message says that the service is not configured, or why it does not answer.
    if (!(error instanceof Refused) || error.status === 401) throw error;
    return { why: error };
  }
}

/** @param {any} seen */
export function view({ why, all, one, state, session, again }) {
  if (why !== undefined)
    return [
      h('h1', {}, title),
      h('p', { class: why.status === 404 ? 'quiet' : 'warning bad', role: 'status' }, why.message),
    ];
  return one === undefined ? overview(all) : ofOne(all, one, state, session, again);
}

/** @param {any} all */
function overview({ deliveries, subscriptions, total, oldestDue, clock }) {
  const failing = subscriptions.filter(isFailing);
  return [
    h('h1', {}, title),
    h(
      'div',
      { class: 'tiles' },
      tile(
        'Pending',
        number(deliveries.pending),
        oldestDue === null ? 'no delivery waits' : `the next is due ${until(oldestDue, clock)}`,
      ),
      tile('Delivered', number(deliveries.delivered), 'within the retention time'),
      tile('Dead letters', number(deliveries.dead), 'retries exhausted', deliveries.dead > 0 ? 'bad' : ''),
      tile(
        'Failing',
        number(failing.length),
        `of ${counted(total, 'subscription')}`,
        failing.length > 0 ? 'near' : '',
      ),
    ),
    section(
      'Subscriptions',
      listTable({
        ...{
          key: '',
          name: 'subscriptions',
          caption: 'Subscriptions',
          rows: subscriptions,
        },
        heads: [
          'Subscription',
          'State',
          'Endpoint',
          'Owner',
          figures('Pending'),
          figures('Failures'),
          figures('Dead letters'),
          'Last attempt',
          'Next attempt',
        ],
        find: ({ subscription, host, owner }) => `${subscription} ${host} ${owner}`,
        filters: { State: ({ state }) => state },
        sorts: {
          Subscription: ({ subscription }) => subscription,
          Endpoint: ({ host }) => host,
          Owner: ({ owner }) => owner,
          Pending: ({ pending }) => pending,
          Failures: ({ failures }) => failures,
          'Dead letters': ({ dead }) => dead,
        },
        cells: (each) => row(each, clock),
        empty: 'No subscriptions.',
      }),
      total > subscriptions.length &&
        note(`${subscriptions.length} of ${number(total)} subscriptions, those with failures first.`),
    ),
  ];
}

/** @param {any} subscription */
function isFailing({ state, failures }) {
  return state !== 'active' || failures > 0;
}

/** @param {any} each @param {string} clock */
function row(each, clock) {
  return [
    h('a', { href: addressOf(each.subscription) }, each.subscription),
    stateBadge(each),
    each.host,
    each.owner,
    number(each.pending),
    number(each.failures),
    each.dead === 0 ? '0' : h('a', { href: addressOf(each.subscription, 'dead') }, number(each.dead)),
    lastWords(each, clock),
    each.nextAttempt === null ? '' : until(each.nextAttempt, clock),
  ];
}

/** @param {any} subscription */
function stateBadge({ state, failures }) {
  /** @type {Record<string, readonly [string, string]>} */
  const words = {
    active: failures > 0 ? ['near', 'active, failing'] : ['good', 'active'],
    disabled: ['bad', 'disabled'],
    open: ['bad', 'breaker open'],
    half_open: ['near', 'breaker half open'],
  };
  const [kind, text] = words[state] ?? ['calm', state];
  return badge(kind, text);
}

/** @param {any} subscription @param {string} clock */
function lastWords({ lastAttempt: last }, clock) {
  if (last === null) return 'none yet';
  const status = last.status === null ? last.outcome : `status ${last.status}`;
  return `${status}, ${ago(last.at, clock)}`;
}

/** @param {string} id @param {string} [state] */
function addressOf(id, state) {
  return `${WEBHOOKS}?${new URLSearchParams({ id, ...(state !== undefined && { state }) })}`;
}

/** @param {any} all @param {any} one @param {string | null} state @param {any} session @param {() => void} again */
function ofOne({ subscriptions }, { subscription: id, total, deliveries, clock }, state, session, again) {
  const known = subscriptions.find((/** @type {any} */ { subscription }) => subscription === id);
  return [
    h('p', { class: 'back note' }, h('a', { href: WEBHOOKS }, 'All subscriptions')),
    h('h1', {}, id),
    known !== undefined &&
      section('Endpoint', standing(known, clock), known.dead > 0 && replayDeadForm(known, session, again)),
    section(
      'Deliveries',
      note(...stateLinks(id, state)),
      deliveryTable(id, deliveries, clock, session, again),
      total > deliveries.length && note(`The newest ${deliveries.length} of ${number(total)} deliveries.`),
    ),
  ];
}

/** @param {any} known @param {string} clock */
function standing(known, clock) {
  const { disabled, openUntil, failingSince } = known;
  return facts([
    ['State', stateBadge(known)],
    ['Host', known.host],
    ['Owner', known.owner],
    ['Events', known.events.join(', ')],
    [
      'Disabled',
      disabled !== null && `${disabled.reason}, ${ago(disabled.at, clock)}. Only the owner can enable it.`,
    ],
    ['Breaker', openUntil !== null && `open, next attempt ${until(openUntil, clock)}`],
    [
      'Failing',
      failingSince !== null &&
        `${counted(known.failures, 'failure')} in a row, the first ${ago(failingSince, clock)}`,
    ],
    ['Pending', number(known.pending)],
    ['Dead letters', number(known.dead)],
    ['Last attempt', lastWords(known, clock)],
    ['Next attempt', known.nextAttempt !== null && until(known.nextAttempt, clock)],
  ]);
}

/** @param {string} id @param {string | null} chosen */
function stateLinks(id, chosen) {
  return [undefined, ...STATES].flatMap((state, index) => {
    const isHere = (state ?? null) === chosen;
    const link = h('a', { href: addressOf(id, state), 'aria-current': isHere && 'true' }, state ?? 'all');
    return index === 0 ? [link] : [' · ', link];
  });
}
