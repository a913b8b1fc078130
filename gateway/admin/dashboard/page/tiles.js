// The tiles of the overview: deprecated share, next sunset, versions still called, state of the gateway.
import { h } from './elements.js';
import { tile, versionLink } from './parts.js';
import { counted, date, daysTo, number, percent, until } from './words.js';

/** @param {any} traffic @param {{ perSecond: number, share: number | undefined } | undefined} rate */
export function shareTile({ share, requests, deprecated }, rate) {
  const going =
    rate === undefined
      ? ''
      : ` · now ${rate.perSecond.toFixed(1)}/s${rate.share === undefined ? '' : `, ${percent(rate.share)} deprecated`}`;
  const note =
    share === null ? 'no requests yet' : `${number(deprecated)} of ${counted(requests, 'request')}${going}`;
  return tile(
    'Deprecated share',
    share === null ? '–' : percent(share),
    note,
    share !== null && share > 0 ? 'near' : '',
  );
}

/** @param {readonly any[]} versions @param {string} now */
export function nextTile(versions, now) {
  const [next] = versions
    .filter(({ stage, sunset }) => sunset !== null && (stage === 'deprecated' || stage === 'active'))
    .sort((one, other) => Date.parse(one.sunset) - Date.parse(other.sunset));
  if (next === undefined) return tile('Next sunset', '–', 'no sunset ahead');
  const days = daysTo(next.sunset, now);
  return tile(
    'Next sunset',
    days < 1 ? until(next.sunset, now) : counted(days, 'day'),
    h('span', {}, versionLink(next), `, ${date(next.sunset)}`),
    days <= 30 ? 'bad' : '',
  );
}

/** @param {any} usage @param {string} ledger */
export function callersTile(usage, ledger) {
  if (usage === undefined) return tile('Still called', '–', ledger);
  const called = (usage.versions ?? []).filter(
    (/** @type {any} */ { verdict, calls }) => verdict === 'called' && calls > 0,
  );
  const calls = called.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + each.calls, 0);
  if (!usage.recording) return tile('Still called', '–', 'the ledger is off');
  return tile(
    'Still called',
    counted(called.length, 'version'),
    `deprecated, ${counted(calls, 'call')} in 30 days`,
    called.length > 0 ? 'near' : 'good',
  );
}

/** @param {any} ready @param {any} last @param {readonly any[]} upstreams */
export function stateTile({ status, store, plan }, last, upstreams) {
  const targets = upstreams.flatMap((each) => each.targets);
  const down = targets.filter(({ up }) => up === false).length;
  const failing = targets.filter(({ up, failing: its }) => up !== false && its !== null).length;
  const trouble =
    store.state !== 'up'
      ? ['store down', '/dashboard/upstreams']
      : last?.outcome === 'rejected' || last?.outcome === 'failed'
        ? [`reload ${last.outcome}`, '/dashboard/configuration']
        : status !== 'ready'
          ? [status, '/dashboard/upstreams']
          : down > 0
            ? [`${counted(down, 'target')} down`, '/dashboard/upstreams']
            : failing > 0
              ? [`${counted(failing, 'target')} failing`, '/dashboard/upstreams']
              : undefined;
  const [words, leads] = trouble ?? ['ready', '/dashboard/configuration'];
  const note = h(
    'a',
    { href: leads },
    `${store.kind} store ${store.state}, plan ${String(plan).slice(0, 8)}`,
  );
  return tile('Gateway', words, note, trouble === undefined ? 'good' : 'bad');
}
