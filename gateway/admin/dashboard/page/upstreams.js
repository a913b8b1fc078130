// Upstreams and their targets: which are in service, what watches them, and whether the gateway itself is well.
// Shown by dashboard.js for /dashboard/upstreams.
import { ask } from './ask.js';
import { h } from './elements.js';
import { badge, facts, listed, section, table, versionLink, warning } from './parts.js';
import { instant, length } from './words.js';

export const title = 'Upstreams';

export async function look() {
  const [{ upstreams }, ready] = await Promise.all([ask('/-/upstreams'), ask('/-/ready')]);
  return { upstreams, ready };
}

/** @param {any} seen */
export function view({ upstreams, ready }) {
  const down = upstreams.flatMap((/** @type {any} */ { upstream, targets }) =>
    targets
      .filter((/** @type {any} */ { up }) => up === false)
      .map((/** @type {any} */ { target }) => `${upstream} at ${target}`),
  );
  const failing = upstreams.flatMap((/** @type {any} */ { upstream, targets }) =>
    targets
      .filter((/** @type {any} */ target) => target.failing !== null)
      .map((/** @type {any} */ { target }) => `${upstream} at ${target}`),
  );
  return [
    h('h1', {}, 'Upstreams'),
    failing.length > 0 && warning('bad', `Calls fail: ${failing.join(', ')}.`),
    down.length > 0 && warning('bad', `Out of service: ${down.join(', ')}.`),
    section(
      'This gateway',
      facts([
        ['State', badge(ready.status === 'ready' ? 'good' : 'bad', ready.status)],
        [
          'Store',
          h(
            'span',
            {},
            `${ready.store.kind} `,
            badge(ready.store.state === 'up' ? 'good' : 'bad', ready.store.state),
          ),
        ],
      ]),
    ),
    section(
      'Targets',
      table(
        'Targets',
        ['Upstream', 'Target', 'State', 'Last 60 seconds', 'Taken out', 'Watched by', 'Serves'],
        upstreams.flatMap(rowsOf),
        'No version has an upstream.',
      ),
    ),
  ];
}

/** @param {any} upstream */
function rowsOf({ upstream, targets, versions, health, breaker, balance }) {
  const watched = [
    health !== null && `GET ${health.path} every ${length(health.every)}`,
    breaker !== null && `a breaker after ${breaker.failures} failures in a row`,
    targets.length > 1 && balance,
  ];
  return targets.map((/** @type {any} */ { target, up, ejections, recent, failing }) => [
    upstream,
    target,
    stateOf(up, failing),
    recentText(recent, failing),
    ejections.map((/** @type {any} */ { by, count }) => `${count} × by ${by}`).join(', ') || 'never',
    watched.filter((each) => each !== false).join(', ') || 'nothing',
    listed(versions.map(versionLink)),
  ]);
}

/**
 * @param {boolean | null} up null: neither checks nor a breaker watch it
 * @param {any} failing
 */
function stateOf(up, failing) {
  if (up === false) return badge('bad', 'out of service');
  if (failing !== null) return badge('bad', 'failing');
  return up ? badge('good', 'in service') : badge('calm', 'not watched');
}

/**
 * @param {any} recent
 * @param {any} failing
 */
function recentText({ calls, failed }, failing) {
  if (calls === 0) return 'no calls';
  if (failing === null) return failed === 0 ? `${calls} answered` : `${failed} of ${calls} failed`;
  const { since, share, error } = failing;
  const from = since === null ? '' : ` since ${instant(since)}`;
  return `${failed} of ${calls} failed (${Math.round(share * 100)} %)${from}, last: ${error}`;
}
