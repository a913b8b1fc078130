// Creates elements from names, attributes and texts, never from markup, and updates them in place.

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
 * Creates an SVG element.
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
 * A link to an address from a policy, or plain text unless it is an http or https URL.
 *
 * @param {string} address
 * @param {string} text
 */
export function outside(address, text) {
  return /^https?:\/\//.test(address) ? h('a', { href: address, rel: 'noreferrer' }, text) : text;
}

/**
 * Sets the children of `holder`. Equal elements stay, with focus, selection, open details and typed text.
 *
 * @param {Element} holder
 * @param {readonly Child[]} children
 */
export function show(holder, children) {
  const fresh = document.createElement('div');
  fresh.append(
    ...children.filter((each) => each !== null && each !== undefined && each !== false).map(nodeOf),
  );
  const focused = document.activeElement;
  adopt(holder, fresh);
  // A moved element loses the focus.
  if (focused instanceof HTMLElement && focused !== document.activeElement && holder.contains(focused))
    focused.focus({ preventScroll: true });
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
  const keys = new Set(wanted.map(keyOf));
  const known = new Map([...old.childNodes].map((node) => [keyOf(node), node]));
  for (const [index, node] of wanted.entries()) {
    const key = keyOf(node);
    const present = old.childNodes[index];
    const former = key === null ? present : known.get(key);
    if (former !== undefined && keyOf(former) === key && former.nodeName === node.nodeName) {
      if (former !== present) old.insertBefore(former, present ?? null);
      update(former, node);
    } else if (present === undefined) old.append(node);
    else if (keyOf(present) !== null && keys.has(keyOf(present))) present.before(node);
    else present.replaceWith(node);
  }
  while (old.childNodes.length > wanted.length) old.lastChild?.remove();
}

/**
 * An element keeps its identity by its key, also at another position.
 *
 * @param {Node} node
 */
function keyOf(node) {
  return node instanceof Element ? node.getAttribute('data-key') : null;
}

/**
 * @param {Node} old
 * @param {Node} fresh
 */
function update(old, fresh) {
  if (old instanceof Element && fresh instanceof Element) refresh(old, fresh);
  else if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
}

/**
 * @param {Element} old
 * @param {Element} fresh
 */
function refresh(old, fresh) {
  // Does not change forms that a person fills in.
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
