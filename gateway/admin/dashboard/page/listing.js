// Search, filters, sort order and pages of a list, kept in the address so that a link shows the same rows.
import { h } from './elements.js';
import { table } from './parts.js';
import { number } from './words.js';

/** @typedef {import('./elements.js').Child} Child */
/**
 * @typedef {object} Listing
 * @property {string} key prefix of its parameters; '' for the first list of a page
 * @property {string} name plural noun for labels, such as `versions`
 * @property {readonly any[]} rows in their usual order
 * @property {(row: any) => string} find the text that a search looks in
 * @property {number} [size] rows of a page; a list with fewer rows has no controls
 * @property {Readonly<Record<string, (row: any) => string>>} [filters] by label
 * @property {Readonly<Record<string, (row: any) => string | number | null>>} [sorts] by label; null comes last
 */
/** @typedef {{ readonly href: string, readonly direction: 'ascending' | 'descending' | null }} Sort */

const PAGE_ROWS = 20;
/** Tables with fewer rows have plain heads. */
const SORTED_ROWS = 5;

/** Changes the address and draws again on input and on clicks of links with `data-list`. @param {() => void} draw */
export function watchLists(draw) {
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
    if (!target.form?.hasAttribute('data-list')) return;
    history.replaceState(null, '', address({ [target.name]: target.value, [pageOf(target.name)]: '' }));
    draw();
  });
  document.addEventListener('submit', (event) => {
    if (event.target instanceof Element && event.target.hasAttribute('data-list')) event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-list]') : null;
    if (!(link instanceof HTMLAnchorElement) || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    if (link.href !== location.href) history.pushState(null, '', link.href);
    draw();
  });
  window.addEventListener('popstate', () => {
    const query = new URLSearchParams(location.search);
    for (const form of document.querySelectorAll('form[data-list]'))
      for (const field of form.querySelectorAll('input, select'))
        if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement)
          field.value = query.get(field.name) ?? '';
    draw();
  });
}

/**
 * A table whose column heads sort it.
 *
 * @param {Listing & {
 *   caption: string,
 *   heads: readonly import('./parts.js').Head[],
 *   cells: (row: any) => readonly (Child | readonly Child[])[],
 *   empty: string,
 * }} of
 */
export function listTable({ caption, heads, cells, empty, ...of }) {
  const { shown, bar, foot, sortOf } = listing(of, { hasHeads: true });
  const sortable = heads.map((each) => {
    const { head, figures } = typeof each === 'string' ? { head: each } : each;
    return { head, figures, sort: of.rows.length >= SORTED_ROWS ? sortOf(head, figures) : undefined };
  });
  const none = of.rows.length === 0 ? empty : `No ${of.name} match.`;
  return h('div', { class: 'list' }, bar, table(caption, sortable, shown.map(cells), none), foot);
}

/**
 * @param {Listing} of
 * @param {{ hasHeads?: boolean }} [how] hasHeads: the heads of a table sort it, otherwise a field does
 */
export function listing(
  { key, name, rows, find, size = PAGE_ROWS, filters = {}, sorts = {} },
  { hasHeads = false } = {},
) {
  const query = new URLSearchParams(location.search);
  const parameter = (/** @type {string} */ label) => (key === '' ? '' : `${key}.`) + slug(label);
  const value = (/** @type {string} */ label) => query.get(parameter(label)) ?? '';
  const words = value('q').toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = Object.entries(filters).filter(([label]) => value(label) !== '');
  const found = rows.filter((row) => {
    const text = words.length === 0 ? '' : find(row).toLowerCase();
    return (
      words.every((word) => text.includes(word)) && chosen.every(([label, of]) => of(row) === value(label))
    );
  });
  const order = value('sort').replace(/^-/, '');
  const descending = value('sort').startsWith('-');
  const by = Object.entries(sorts).find(([label]) => slug(label) === order)?.[1];
  const sorted = by === undefined ? found : found.toSorted(comparison(by, descending));
  const pages = Math.max(1, Math.ceil(sorted.length / size));
  const page = Math.min(pages, Math.max(1, Number.parseInt(value('page'), 10) || 1));
  const first = (page - 1) * size;
  const isControlled = rows.length > size || words.length > 0 || chosen.length > 0;

  /** @param {string} label @param {boolean | undefined} figures @returns {Sort | undefined} */
  const sortOf = (label, figures) => {
    if (sorts[label] === undefined) return undefined;
    const isCurrent = by === sorts[label];
    const next = isCurrent ? !descending : figures === true;
    return {
      href: address({ [parameter('sort')]: (next ? '-' : '') + slug(label), [parameter('page')]: '' }),
      direction: isCurrent ? (descending ? 'descending' : 'ascending') : null,
    };
  };
  /** @param {number} to @param {string} text */
  const pageLink = (to, text) => {
    const isHere = to === page || to < 1 || to > pages;
    const href = address({ [parameter('page')]: String(isHere ? page : to) });
    return h('a', { href, 'data-list': true, 'aria-disabled': isHere && 'true' }, text);
  };
  return {
    shown: sorted.slice(first, first + size),
    /** The rows of all pages. */
    found: sorted,
    sortOf,
    bar:
      isControlled &&
      h(
        'form',
        { class: 'find', role: 'search', 'aria-label': name, 'data-list': true, 'data-key': `find ${key}` },
        h('input', {
          ...{ type: 'search', name: parameter('q'), value: value('q'), autocomplete: 'off' },
          ...{ placeholder: `Search ${name}`, 'aria-label': `Search ${name}` },
        }),
        ...Object.entries(filters).map(([label, of]) => {
          const values = [...new Set([...rows.map(of), value(label)])].filter((each) => each !== '').sort();
          const options = values.map((each) => ({ value: each, text: each }));
          return values.length > 1 && select(label, parameter(label), value(label), 'all', options);
        }),
        !hasHeads &&
          Object.keys(sorts).length > 0 &&
          select(
            'Sort',
            parameter('sort'),
            value('sort'),
            'by name',
            Object.keys(sorts).flatMap((label) => [
              { value: slug(label), text: label },
              { value: `-${slug(label)}`, text: `${label}, descending` },
            ]),
          ),
        h('span', { role: 'status', class: 'note' }, countWords(found.length, rows.length, name)),
      ),
    foot:
      pages > 1 &&
      h(
        'nav',
        { class: 'pages note', 'aria-label': `Pages of ${name}`, 'data-key': `pages ${key}` },
        h(
          'span',
          {},
          `${number(first + 1)}–${number(Math.min(sorted.length, first + size))} of ${number(sorted.length)}`,
        ),
        pageLink(page - 1, 'Previous'),
        pageLink(page + 1, 'Next'),
      ),
  };
}

/**
 * @param {string} label
 * @param {string} name
 * @param {string} chosen
 * @param {string} none the text of the choice of nothing
 * @param {readonly { value: string, text: string }[]} options
 */
function select(label, name, chosen, none, options) {
  const all = [{ value: '', text: none }, ...options];
  return h(
    'select',
    { name, 'aria-label': label },
    ...all.map(({ value, text }) => h('option', { value, selected: value === chosen }, `${label}: ${text}`)),
  );
}

/** @param {number} found @param {number} all @param {string} name */
function countWords(found, all, name) {
  return found === all ? `${number(all)} ${name}` : `${number(found)} of ${number(all)} ${name}`;
}

/**
 * @param {(row: any) => string | number | null} by
 * @param {boolean} descending
 * @returns {(one: any, other: any) => number}
 */
function comparison(by, descending) {
  const direction = descending ? -1 : 1;
  return (one, other) => {
    const [a, b] = [by(one), by(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === 'number' && typeof b === 'number') return direction * (a - b);
    return direction * String(a).localeCompare(String(b), 'en', { numeric: true });
  };
}

/** The address of this page with changed parameters, without empty ones. @param {Record<string, string>} changes */
function address(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  return `${location.pathname}${query.size > 0 ? `?${query}` : ''}`;
}

/** The page parameter of the list that the parameter `name` belongs to. @param {string} name */
function pageOf(name) {
  return name.replace(/[^.]*$/, 'page');
}

/** @param {string} label */
function slug(label) {
  return label.toLowerCase().replaceAll(/\W+/g, '-');
}
