// Upstreams and their targets with state, recent calls and checks, and the state of the gateway.
import { ask } from './ask.js';
import { h } from './elements.js';
import { listTable } from './listing.js';
import { badge, facts, listed, section, versionLink, warning } from './parts.js';
import { counted, instant, length, nameOf } from './words.js';

export const title = 'Upstreams';

export async function look() {
  const [{ upstreams }, ready] = await Promise.all([ask('/-/upstreams'), ask('/-/ready')]);
  return { upstreams, ready };
}

/** @param {any} seen */
export function view({ upstreams, ready }) {
  const all = upstreams.flatMap((/** @type {any} */ { targets, ...upstream }) =>
    targets.map((/** @type {any} */ target) => ({ ...upstream, ...target, isShared: targets.length > 1 })),
  );
  const failing = all.filter((/** @type {any} */ each) => stateOf(each) === 'failing');
  const down = all.filter((/** @type {any} */ each) => stateOf(each) === 'out of service');
  const rows = [...new Set([...down, ...failing, ...all])];
  const isReady = ready.status === 'ready' && ready.store.state === 'up';
  return [
    h('h1', {}, 'Upstreams'),
    failing.length > 0 && warning('bad', `Calls fail: ${namesOf(failing)}.`),
    down.length > 0 && warning('bad', `Out of service: ${namesOf(down)}.`),
    section(
      'This gateway',
      facts([
        [
          'State',
          badge(isReady ? 'good' : 'bad', isReady || ready.status !== 'ready' ? ready.status : 'not ready'),
        ],
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
      listTable({
        ...{ key: '', name: 'targets', caption: 'Targets', rows },
        heads: ['Upstream', 'Target', 'State', 'Last 60 seconds', 'Ejections', 'Checks', 'Versions'],
        find: ({ upstream, target, versions }) => `${upstream} ${target} ${versions.map(nameOf).join(' ')}`,
        filters: { State: stateOf },
        sorts: {
          Upstream: ({ upstream }) => upstream,
          Target: ({ target }) => target,
          State: stateOf,
          'Last 60 seconds': ({ recent }) => recent.calls,
        },
        cells: (each) => [
          each.upstream,
          each.target,
          badge(STATES[stateOf(each)] ?? 'calm', stateOf(each)),
          recentText(each),
          each.ejections.map((/** @type {any} */ { by, count }) => `${count} × by ${by}`).join(', '),
          checksOf(each),
          listed(each.versions.map(versionLink)),
        ],
        empty: 'No version has an upstream.',
      }),
    ),
  ];
}

/** More names than these are only counted. */
const MAX_NAMES = 3;

/** @param {readonly any[]} targets */
function namesOf(targets) {
  const names = targets.slice(0, MAX_NAMES).map(({ upstream, target }) => `${upstream} at ${target}`);
  const rest = targets.length - names.length;
  return [...names, ...(rest > 0 ? [counted(rest, 'more target')] : [])].join(', ');
}

/** @type {Readonly<Record<string, string>>} */
const STATES = { 'out of service': 'bad', failing: 'bad', 'in service': 'good', answering: 'good' };

/** @param {any} target up: null without health checks and without a breaker */
function stateOf({ up, failing, recent }) {
  if (up === false) return 'out of service';
  if (failing !== null) return 'failing';
  if (up) return 'in service';
  return recent.calls > 0 ? 'answering' : 'idle';
}

/** @param {any} target */
function checksOf({ health, breaker, balance, isShared }) {
  const checks = [
    health !== null && `GET ${health.path} every ${length(health.every)}`,
    breaker !== null && `breaker after ${counted(breaker.failures, 'failure')} in a row`,
    isShared && `balanced by ${balance}`,
  ];
  return checks.filter((each) => each !== false).join(', ') || 'none';
}

/** @param {any} target */
function recentText({ recent: { calls, failed }, failing }) {
  if (calls === 0) return 'no calls';
  if (failing === null) return failed === 0 ? `${calls} answered` : `${failed} of ${calls} failed`;
  const { since, share, error } = failing;
  const from = since === null ? '' : ` since ${instant(since)}`;
  return `${failed} of ${calls} failed (${Math.round(share * 100)} %)${from}, last error: ${error}`;
}
