// Parts that several pages are made of: badges, tables that fit on a phone, tiles, lists of facts.
// Nothing here asks or knows the gateway.
import { h } from './elements.js';

/** @typedef {import('./elements.js').Child} Child */

/** @param {string | null} stage */
export function stageBadge(stage) {
  return h('span', { class: `badge ${stage ?? 'unknown'}` }, stage ?? 'not in the policies');
}

/** @param {string} kind good, bad, calm or near @param {string} text */
export function badge(kind, text) {
  return h('span', { class: `badge ${kind}` }, text);
}

/**
 * On a phone each row is a card, and each cell says what it is.
 *
 * @param {string} caption
 * @param {readonly string[]} heads
 * @param {readonly (readonly (Child | readonly Child[])[])[]} rows the first cell of each is its head
 * @param {string} empty what is said where there is no row
 * @param {readonly string[]} [keys] of rows that stay what they are when others come before them
 */
export function table(caption, heads, rows, empty, keys) {
  if (rows.length === 0) return h('p', { class: 'quiet' }, empty);
  const cell = (/** @type {Child | readonly Child[]} */ child, /** @type {number} */ index) =>
    index === 0
      ? h('th', { scope: 'row' }, child)
      : h('td', { 'data-head': heads[index], class: isLong(child) && 'long' }, child);
  return h(
    'table',
    {},
    h('caption', { class: 'unseen' }, caption),
    h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', {}, ...rows.map((row, index) => h('tr', { 'data-key': keys?.[index] }, ...row.map(cell)))),
  );
}

/** What may have to break anywhere. */
const LONG = 30;

/** @param {Child | readonly Child[]} child */
function isLong(child) {
  return typeof child === 'string' && child.length > LONG;
}

/**
 * @param {string} head
 * @param {Child} figure
 * @param {Child} note
 * @param {string} [kind]
 */
export function tile(head, figure, note, kind = '') {
  return h(
    'div',
    { class: `tile ${kind}` },
    h('h2', {}, head),
    h('p', { class: 'big' }, figure),
    h('p', { class: 'note' }, note),
  );
}

/** @param {string} head @param {...(Child | readonly Child[])} children */
export function section(head, ...children) {
  return h('section', { 'data-key': head }, h('h2', {}, head), ...children);
}

/** @param {readonly (readonly [string, Child | readonly Child[]])[]} pairs those without a value are left out */
export function facts(pairs) {
  const told = pairs.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return h('dl', {}, ...told.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}
