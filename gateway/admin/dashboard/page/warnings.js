// The warnings above every page: refused policy files, and what ends within the notice horizon.
import { h } from './elements.js';
import { listed } from './parts.js';
import { addressOf, away, counted, date, nameOf } from './words.js';

const DAY_MS = 86_400_000;
const NEAR_DAYS = 30;
const MAX = 20;

/** @typedef {{ versions?: readonly any[], recording: boolean } | undefined} Usage */

/**
 * @param {{ now: string, noticeDays: number, apis: readonly any[], quarantined?: readonly string[], leftOut?: readonly string[] }} standing
 * @param {Usage} usage
 */
export function warnings({ now, noticeDays, apis, quarantined = [], leftOut = [] }, usage) {
  const ending = apis
    .flatMap(({ versions }) => versions)
    .flatMap((version) => endingOf(version, usage))
    .map((each) => ({ ...each, days: (Date.parse(each.ending.sunset) - Date.parse(now)) / DAY_MS }))
    .filter(({ days }) => days <= noticeDays)
    .toSorted((one, other) => one.days - other.days);
  const refused = quarantined.length + leftOut.length;
  if (refused + ending.length === 0) return [];
  const called = ending.filter(isCalled);
  const isNear = called.some(({ days }) => days <= NEAR_DAYS);
  const kind = refused > 0 || isNear ? 'bad' : called.length > 0 ? 'near' : 'calm';
  const parts = [
    ...(refused > 0 ? [h('strong', {}, `${counted(refused, 'policy file')} refused`)] : []),
    ...(ending.length > 0
      ? [
          h(
            'span',
            {},
            h('strong', {}, counted(ending.length, 'sunset')),
            ` within ${counted(noticeDays, 'day')}${calledWords(ending.length, called.length)}`,
          ),
        ]
      : []),
  ];
  const rest = ending.length - MAX;
  return [
    h(
      'details',
      { class: `warning ${kind}`, 'data-key': 'warnings' },
      h('summary', {}, listed(parts)),
      h(
        'ul',
        {},
        ...quarantined.map((api) => refusedLine(api, 'the gateway serves its last accepted form')),
        ...leftOut.map((api) => refusedLine(api, 'the gateway does not serve it')),
        ...ending.slice(0, MAX).map((each) => endingLine(each, usage, now)),
        rest > 0 && h('li', {}, h('a', { href: '/dashboard/?sort=sunset' }, `${rest} more`)),
      ),
    ),
  ];
}

/** @param {number} all @param {number} called */
function calledWords(all, called) {
  if (called === 0) return '';
  return all === 1 ? ', still called' : `, ${called} still called`;
}

/** @param {string} api @param {string} effect */
function refusedLine(api, effect) {
  return h(
    'li',
    { 'data-key': `refused ${api}` },
    `The policy file of ${api} is refused: ${effect}. `,
    h('a', { href: '/dashboard/configuration' }, 'Show the problems'),
    '.',
  );
}

/**
 * The version if it is deprecated, else its deprecated operations. Only those with a sunset.
 *
 * @param {any} version
 * @param {Usage} usage
 */
function endingOf(version, usage) {
  if (version.stage !== 'deprecated' && version.stage !== 'active') return [];
  const use = usage?.versions?.find((each) => each.api === version.api && each.version === version.version);
  const name = nameOf(version);
  const all =
    version.stage === 'deprecated'
      ? [{ version, name, ending: version, use }]
      : version.operations
          .filter((/** @type {any} */ { stage }) => stage === 'deprecated')
          .map((/** @type {any} */ ending) => ({
            version,
            name: `${name} ${ending.operation}`,
            ending,
            use: use && {
              consumers: 0,
              calls: 0,
              summary: use.summary,
              ...use.operations.find((/** @type {any} */ { operation }) => operation === ending.operation),
            },
          }));
  return all.filter((/** @type {any} */ { ending }) => ending.sunset !== null);
}

/** @param {any} subject */
function isCalled({ use }) {
  return (use?.calls ?? 0) > 0;
}

/** @param {any} subject @param {Usage} usage @param {string} now */
function endingLine({ version, name, ending, use }, usage, now) {
  const { brownoutUntil, paused, held } = version;
  return h(
    'li',
    { 'data-key': name },
    h('a', { href: addressOf(version) }, name),
    ` ends on ${date(ending.sunset)}, ${away(ending.sunset, now)}. ${callersWords(use, usage)}`,
    brownoutUntil !== null && ` A brownout refuses calls until ${date(brownoutUntil)}.`,
    paused && ' An operator has paused brownouts and the sunset.',
    held && ' The guard retire_when holds the sunset.',
  );
}

/** @param {any} use @param {Usage} usage */
function callersWords(use, usage) {
  if (usage === undefined) return '';
  if (!usage.recording) return 'Calls are not recorded.';
  if (use === undefined) return '';
  if (use.calls === 0) return use.verdict === 'too_early' ? `Usage: ${use.summary}.` : 'No calls in 30 days.';
  const verb = use.consumers === 1 ? 'calls' : 'call';
  return `${counted(use.consumers, 'consumer')} still ${verb} it: ${counted(use.calls, 'call')} in 30 days.`;
}
