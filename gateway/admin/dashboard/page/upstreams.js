// Upstreams and their targets: which are in service, what watches them, and whether the gateway itself is well.
// Shown by dashboard.js for /dashboard/upstreams.
import { ask } from './ask.js';
import { h } from './elements.js';
import { badge, facts, listed, section, table, versionLink, warning } from './parts.js';
import { length } from './words.js';

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
  return [
    h('h1', {}, 'Upstreams'),
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
        ['Upstream', 'Target', 'State', 'Taken out', 'Watched by', 'Serves'],
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
  return targets.map((/** @type {any} */ { target, up, ejections }) => [
    upstream,
    target,
    up === null
      ? badge('calm', 'not watched')
      : badge(up ? 'good' : 'bad', up ? 'in service' : 'out of service'),
    ejections.map((/** @type {any} */ { by, count }) => `${count} × by ${by}`).join(', ') || 'never',
    watched.filter((each) => each !== false).join(', ') || 'nothing',
    listed(versions.map(versionLink)),
  ]);
}
