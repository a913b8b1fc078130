// Parts of several pages: badges, names, tables, tiles, lists of facts.
import { h } from './elements.js';
import { addressOf, nameOf, number } from './words.js';

/** @typedef {import('./elements.js').Child} Child */
/** @typedef {string | { readonly head: string, readonly figures?: boolean | undefined, readonly sort?: import('./listing.js').Sort | undefined }} Head */

/** @param {string | null} stage */
export function stageBadge(stage) {
  return h('span', { class: `badge ${stage ?? 'unknown'}` }, stage ?? 'not in the policies');
}

/** @param {string} kind good, bad, calm or near @param {string} text */
export function badge(kind, text) {
  return h('span', { class: `badge ${kind}` }, text);
}

/** Longer names may break anywhere. */
const LONGEST_WHOLE = 24;

/** @param {{ api: string, version: string }} version */
export function versionLink(version) {
  const name = nameOf(version);
  return h('a', { class: name.length <= LONGEST_WHOLE && 'whole', href: addressOf(version) }, name);
}

/** @param {readonly Node[]} nodes */
export function listed(nodes) {
  return h('span', {}, ...nodes.flatMap((node, index) => (index === 0 ? [node] : [', ', node])));
}

/** The head of a column of numbers, which are aligned to the right. @param {string} head */
export function figures(head) {
  return { head, figures: true };
}

/**
 * Omits columns without text. On a phone the style sheet makes each row a card. The roles keep it a table for
 * screen readers.
 *
 * @param {string} caption
 * @param {readonly Head[]} heads
 * @param {readonly (readonly (Child | readonly Child[])[])[]} rows the first cell of each is its head
 * @param {string} empty the text of a table without rows
 */
export function table(caption, heads, rows, empty) {
  if (rows.length === 0) return h('p', { class: 'quiet' }, empty);
  const columns = heads
    .map((each) => (typeof each === 'string' ? { head: each } : each))
    .map((each, index) => ({ ...each, says: index === 0 || rows.some((row) => row[index] !== '') }));
  const cell = (/** @type {Child | readonly Child[]} */ child, /** @type {number} */ index) =>
    index === 0
      ? h('th', { scope: 'row', role: 'rowheader' }, child)
      : h(
          'td',
          { role: 'cell', 'data-head': columns[index]?.head, class: kindOf(columns[index], child) },
          child,
        );
  const keys = keysOf(rows.map(([first]) => textOf(first)));
  return h(
    'table',
    { role: 'table' },
    h('caption', { class: 'unseen' }, caption),
    h(
      'thead',
      { role: 'rowgroup' },
      h('tr', { role: 'row' }, ...columns.filter(({ says }) => says).map(columnHead)),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      ...rows.map((row, index) =>
        h(
          'tr',
          { role: 'row', 'data-key': keys[index] },
          ...row.map((child, column) => columns[column]?.says === true && cell(child, column)),
        ),
      ),
    ),
  );
}

/** @param {Exclude<Head, string>} column */
function columnHead({ head, figures: areFigures, sort }) {
  const direction = sort?.direction ?? null;
  const arrow = direction === null ? '' : direction === 'ascending' ? ' ▲' : ' ▼';
  return h(
    'th',
    { scope: 'col', role: 'columnheader', class: areFigures && 'figures', 'aria-sort': direction },
    sort === undefined ? head : h('a', { class: 'sort', href: sort.href, 'data-list': true }, head),
    arrow !== '' && h('span', { 'aria-hidden': 'true' }, arrow),
  );
}

/** Longer texts may break anywhere. */
const LONG = 30;

/** @param {{ figures?: boolean | undefined } | undefined} column @param {Child | readonly Child[]} child */
function kindOf(column, child) {
  if (column?.figures) return 'figures';
  return typeof child === 'string' && (child.length > LONG ? 'long' : 'short');
}

/** @param {Child | readonly Child[]} child @returns {string} */
function textOf(child) {
  if (Array.isArray(child)) return child.map(textOf).join('');
  return child instanceof Node ? (child.textContent ?? '') : String(child);
}

/** Unique keys: each text with the count of equal texts before it. @param {readonly string[]} texts */
function keysOf(texts) {
  const times = new Map();
  return texts.map((text) => {
    const time = times.get(text) ?? 0;
    times.set(text, time + 1);
    return `${text} ${time}`;
  });
}

/**
 * A note if the gateway has sent only the rows with the most calls. A consumer that is identified in two ways has two rows.
 *
 * @param {readonly any[]} rows those with the most calls
 * @param {readonly any[]} versions
 */
export function moreThan(rows, versions) {
  const all = versions.reduce((sum, { consumers }) => sum + consumers, 0);
  return (
    all > rows.length &&
    note(
      `The ${number(rows.length)} with the most calls of ${number(all)}. `,
      h('code', {}, 'sundial usage --format csv'),
      ' writes all of them.',
    )
  );
}

/**
 * @param {string} head
 * @param {Child} figure
 * @param {Child} text
 * @param {string} [kind]
 */
export function tile(head, figure, text, kind = '') {
  return h('div', { class: `tile ${kind}` }, h('h2', {}, head), h('p', { class: 'big' }, figure), note(text));
}

/** @param {...Child} children */
export function note(...children) {
  return h('p', { class: 'note' }, ...children);
}

/** @param {string} purpose what signing in would allow */
export function signInNote(purpose) {
  return note(h('a', { href: '#sign-in' }, 'Sign in'), ` to ${purpose}.`);
}

/** @param {string} kind bad, calm or near @param {...Child} children */
export function warning(kind, ...children) {
  return h('p', { class: `warning ${kind}` }, ...children);
}

/**
 * Sentences of the glossary, shown when the pointer rests on a heading or a name.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const MEANINGS = {
  Announced: 'The day from which callers see a date of the policy file.',
  'Brownouts to come': 'An announced, short refusal of a deprecated version.',
  'Closed to new consumers':
    'The day from which new consumers of a deprecated version get 403 with the successor.',
  Consumers: 'The application or account that calls, as its credentials name it.',
  Deprecated: 'The stage in which a version is still served, and its end is announced.',
  Exceptions: 'The permission for one consumer to pass brownouts, the sunset, lowered limits or a freeze.',
  Extended: 'A later sunset, announced before the sunset that it moves.',
  Guide: 'The page or file that tells callers how to migrate.',
  Operations: 'A method and a path template of a version.',
  Retired: 'The stage after the last exception: all requests get 410 or a redirect.',
  Successor: 'The version or operation that replaces another one.',
  Sunset: 'The day from which a version or operation answers 410 or redirects.',
  Upstream: 'A named service behind the gateway.',
};

/** @param {string} head @param {...(Child | readonly Child[])} children */
export function section(head, ...children) {
  return h('section', { 'data-key': head }, h('h2', { title: MEANINGS[head] }, head), ...children);
}

/** @param {readonly (readonly [string, Child | readonly Child[]])[]} pairs pairs without a value are left out */
export function facts(pairs) {
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return h(
    'dl',
    {},
    ...given.flatMap(([name, value]) => [h('dt', { title: MEANINGS[name] }, name), h('dd', {}, value)]),
  );
}
