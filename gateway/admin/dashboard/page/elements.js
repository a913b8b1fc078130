// Elements of the pages: made of names, attributes and texts, never of markup, and brought up to date in place.
// Used by every page; whatever a policy or a client has written gets here as text alone.

/** @typedef {string | number | Node | null | undefined | false} Child */
/** @typedef {Readonly<Record<string, string | number | boolean | null | undefined>>} Attributes */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @param {string} name
 * @param {Attributes} [attributes] those that are null, undefined or false are left out
 * @param {...(Child | readonly Child[])} children
 * @returns {HTMLElement}
 */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/**
 * The same for a drawing.
 *
 * @param {string} name
 * @param {Attributes} [attributes]
 * @param {...(Child | readonly Child[])} children
 * @returns {SVGElement}
 */
export function s(name, attributes = {}, ...children) {
  return filled(/** @type {SVGElement} */ (document.createElementNS(SVG, name)), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {readonly (Child | readonly Child[])[]} children
 * @returns {E}
 */
function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) throw new Error('handlers are no attributes');
    element.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * A link to a place that a policy names; plain text where that is no web address.
 *
 * @param {string} address
 * @param {string} text
 */
export function outside(address, text) {
  return /^https?:\/\//.test(address) ? h('a', { href: address, rel: 'noreferrer' }, text) : text;
}

/**
 * Makes `holder` have these children, and keeps the elements that are the same: with them stay the focus, what is
 * selected, what is open and what has been typed.
 *
 * @param {Element} holder
 * @param {readonly Child[]} children
 */
export function show(holder, children) {
  const fresh = document.createElement('div');
  fresh.append(
    ...children.filter((each) => each !== null && each !== undefined && each !== false).map(nodeOf),
  );
  adopt(holder, fresh);
}

/** @param {Child} child */
function nodeOf(child) {
  return child instanceof Node ? child : String(child);
}

/**
 * @param {Element} old
 * @param {Element} fresh
 */
function adopt(old, fresh) {
  const wanted = [...fresh.childNodes];
  for (const [index, node] of wanted.entries()) {
    const present = old.childNodes[index];
    if (present === undefined) old.append(node);
    else if (!isAlike(present, node)) {
      if (comesLater(present, wanted.slice(index + 1))) old.insertBefore(node, present);
      else present.replaceWith(node);
    } else if (present instanceof Element && node instanceof Element) refresh(present, node);
    else if (present.nodeValue !== node.nodeValue) present.nodeValue = node.nodeValue;
  }
  while (old.childNodes.length > wanted.length) old.lastChild?.remove();
}

/**
 * What carries a key is another thing under another key.
 *
 * @param {Node} one
 * @param {Node} other
 */
function isAlike(one, other) {
  if (one.nodeName !== other.nodeName) return false;
  if (!(one instanceof Element && other instanceof Element)) return true;
  return one.getAttribute('data-key') === other.getAttribute('data-key');
}

/**
 * What is new before it does not make it another.
 *
 * @param {Node} present
 * @param {readonly Node[]} rest
 */
function comesLater(present, rest) {
  return (
    present instanceof Element &&
    present.hasAttribute('data-key') &&
    rest.some((each) => isAlike(present, each))
  );
}

/**
 * @param {Element} old
 * @param {Element} fresh
 */
function refresh(old, fresh) {
  // What a person has opened or typed is theirs.
  if (old.hasAttribute('data-own')) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(name === 'open' && old.nodeName === 'DETAILS'))
      old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  adopt(old, fresh);
}
