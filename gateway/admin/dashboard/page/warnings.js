// What nobody may miss: above every page, each version that goes and is still called, the most urgent first.
// From the versions and what the ledger has of them; an operation that goes before its version counts as one.
import { h } from './elements.js';
import { addressOf, away, counted, date, daysTo, nameOf, number } from './words.js';

const NEAR_DAYS = 30;
const MOST = 4;
const KINDS = ['calm', 'near', 'bad', 'bad'];

/** @typedef {{ versions?: readonly any[], recording: boolean } | undefined} Usage */

/**
 * @param {{ now: string, apis: readonly any[], quarantined?: readonly string[], leftOut?: readonly string[] }} standing
 * @param {Usage} usage
 */
export function warnings({ now, apis, quarantined = [], leftOut = [] }, usage) {
  const all = apis
    .flatMap(({ versions }) => versions)
    .flatMap((version) => goingOf(version, usage))
    .map((going) => warningOf(going, usage, now))
    .sort((one, other) => other.urgency - one.urgency || one.days - other.days);
  const rest = all.slice(MOST);
  const called = rest.filter(({ urgency }) => urgency > 0).length;
  return [
    ...quarantined.slice(0, MOST).map((api) => refusedWarning(api, 'its last accepted form is served')),
    ...leftOut.slice(0, MOST).map((api) => refusedWarning(api, 'it is not served')),
    ...all.slice(0, MOST).map(({ node }) => node),
    rest.length > 0 &&
      h(
        'p',
        { class: `warning ${KINDS[rest[0]?.urgency ?? 0]}`, 'data-key': 'more' },
        h('a', { href: '/dashboard/#deprecated' }, `${number(rest.length)} more deprecated`),
        called > 0 && `, ${called === rest.length ? 'all' : number(called)} still called`,
        '.',
      ),
  ];
}

/** @param {string} api @param {string} effect */
function refusedWarning(api, effect) {
  return h(
    'p',
    { class: 'warning bad', 'data-key': `quarantined ${api}` },
    `The policy file of ${api} is refused: ${effect}. `,
    h('a', { href: '/dashboard/configuration' }, 'What is wrong with it'),
    '.',
  );
}

/**
 * The version itself, or what of it goes while the version stays.
 *
 * @param {any} version
 * @param {Usage} usage
 */
function goingOf(version, usage) {
  const use = usage?.versions?.find((each) => each.api === version.api && each.version === version.version);
  if (version.stage === 'deprecated') return [{ version, name: nameOf(version), going: version, use }];
  if (version.stage !== 'active') return [];
  return version.operations
    .filter((/** @type {any} */ { stage }) => stage === 'deprecated')
    .map((/** @type {any} */ going) => ({
      version,
      name: `${nameOf(version)} ${going.operation}`,
      going,
      use: use && {
        consumers: 0,
        calls: 0,
        summary: use.summary,
        ...use.operations.find((/** @type {any} */ { operation }) => operation === going.operation),
      },
    }));
}

/**
 * @param {{ version: any, name: string, going: any, use: any }} subject
 * @param {Usage} usage
 * @param {string} now
 */
function warningOf({ version, name, going, use }, usage, now) {
  const { brownoutUntil, paused, held } = version;
  const { sunset } = going;
  const days = sunset === null ? Number.POSITIVE_INFINITY : daysTo(sunset, now);
  const called = (use?.calls ?? 0) > 0;
  const urgency = brownoutUntil !== null ? 3 : called && days <= NEAR_DAYS ? 2 : called ? 1 : 0;
  const end =
    sunset === null ? 'is deprecated and has no sunset yet' : `ends on ${date(sunset)}, ${away(sunset, now)}`;
  const node = h(
    'p',
    { class: `warning ${KINDS[urgency]}`, 'data-key': name },
    h('strong', {}, h('a', { href: addressOf(version) }, name), ` ${end}.`),
    ` ${callersWords(use, usage)}`,
    brownoutUntil !== null && ` A brownout refuses its calls until ${date(brownoutUntil)}.`,
    paused && ' An operator has paused its brownouts and its end.',
    held && ' Its guard holds the end.',
  );
  return { urgency, days, node };
}

/**
 * @param {any} use
 * @param {Usage} usage
 */
function callersWords(use, usage) {
  if (usage === undefined) return '';
  if (!usage.recording) return 'Who calls it is not recorded.';
  if (use === undefined) return '';
  if (use.calls === 0)
    return use.verdict === 'too_early' ? `Usage: ${use.summary}.` : 'No call of it was recorded in 30 days.';
  const verb = use.consumers === 1 ? 'calls' : 'call';
  return `${counted(use.consumers, 'consumer')} still ${verb} it: ${counted(use.calls, 'call')} in 30 days.`;
}
