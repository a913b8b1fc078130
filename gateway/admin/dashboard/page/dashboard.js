// The frame of every page: which page the address means, who is signed in, the warnings above, and looking again.
// A page is a module that says what it asks (look) and what it shows of that (view).
import { ask, Refused } from './ask.js';
import * as configuration from './configuration.js';
import * as consumer from './consumer.js';
import { h, show } from './elements.js';
import * as limits from './limits.js';
import * as overview from './overview.js';
import { signInForm, whoBox } from './sign-in.js';
import * as upstreams from './upstreams.js';
import * as version from './version.js';
import { warnings } from './warnings.js';
import * as webhooks from './webhooks.js';

/**
 * What every page is given of one look.
 *
 * @typedef {object} Look
 * @property {URLSearchParams} query
 * @property {any} standing what /-/versions answers
 * @property {any} usage what /-/usage answers of thirty days; undefined while the ledger does not answer
 * @property {{ signedIn: boolean, readable: boolean }} session
 * @property {() => void} again looks at once
 */
/**
 * @typedef {object} Page
 * @property {string} title
 * @property {(look: Look) => Promise<any>} look
 * @property {(seen: any) => readonly import('./elements.js').Child[]} view
 */

/** @type {Readonly<Record<string, Page>>} */
const PAGES = {
  '/dashboard/': overview,
  '/dashboard/version': version,
  '/dashboard/consumer': consumer,
  '/dashboard/limits': limits,
  '/dashboard/upstreams': upstreams,
  '/dashboard/webhooks': webhooks,
  '/dashboard/configuration': configuration,
};

const EVERY_MS = 5_000;
const USAGE_EVERY_MS = 15_000;
/** A gateway that takes long is asked less often. */
const TIMES_ITS_TIME = 10;

const query = new URLSearchParams(location.search);
const page = PAGES[location.pathname] ?? overview;
let usage = /** @type {any} */ (undefined);
let usageDue = 0;
let timer = 0;
let turn = 0;
/** Whoever asks for the form means its field. */
let wantsFocus = false;

for (const link of document.querySelectorAll('nav a')) {
  if (link.getAttribute('href') === location.pathname) link.setAttribute('aria-current', 'page');
}
document.title = `${page.title} – Sundial`;
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) again();
});
window.addEventListener('hashchange', () => {
  wantsFocus = location.hash === '#sign-in';
  again();
});
again();

function again() {
  clearTimeout(timer);
  turn += 1;
  void lookOnce(turn);
}

/** @param {number} mine of two looks the later one is shown */
async function lookOnce(mine) {
  const began = performance.now();
  try {
    const session = await ask('/-/session');
    if (!session.readable) return askForToken();
    const standing = await ask('/-/versions');
    if (performance.now() >= usageDue) await readUsage();
    const seen = await page.look({ query, standing, usage, session, again });
    if (mine !== turn) return;
    place('who', [whoBox(session, again)]);
    place('warnings', warnings(standing, usage));
    place('main', [wantsForm(session) && signInForm(leaveForm), ...page.view(seen)]);
    place('foot', [
      `By the gateway's clock ${standing.now.slice(0, 19).replace('T', ' ')} UTC. Looks again by itself.`,
    ]);
    document.body.classList.remove('stale');
    if (wantsFocus) document.getElementById('token')?.focus();
    wantsFocus = false;
  } catch (error) {
    if (mine !== turn) return;
    if (error instanceof Refused && error.status === 401) return askForToken();
    tellTrouble(error);
  }
  // A page that nobody sees asks nothing.
  if (!document.hidden)
    timer = setTimeout(again, Math.max(EVERY_MS, (performance.now() - began) * TIMES_ITS_TIME));
}

async function readUsage() {
  const began = performance.now();
  try {
    usage = await ask('/-/usage?since=30d');
  } catch (error) {
    // Without its store a gateway goes on, and so does what needs none.
    if (!(error instanceof Refused && error.status === 503)) throw error;
    usage = undefined;
  }
  usageDue = performance.now() + Math.max(USAGE_EVERY_MS, (performance.now() - began) * TIMES_ITS_TIME);
}

/** What was seen last stays, and is said to be old. @param {unknown} error */
function tellTrouble(error) {
  const why = error instanceof Refused ? error.message : 'The gateway does not answer.';
  place('foot', [`${why} What is shown may be old; asking again.`]);
  document.body.classList.add('stale');
  if (document.querySelector('main h1') === null) place('main', [h('h1', {}, page.title), h('p', {}, why)]);
}

function askForToken() {
  place('who', []);
  place('warnings', []);
  place('main', [signInForm(leaveForm)]);
  place('foot', ['This listener shows its pages to nobody who has not the admin token.']);
}

/** @param {{ signedIn: boolean }} session */
function wantsForm({ signedIn }) {
  return location.hash === '#sign-in' && !signedIn;
}

function leaveForm() {
  history.replaceState(null, '', location.pathname + location.search);
  again();
}

/** @param {string} id @param {readonly import('./elements.js').Child[]} children */
function place(id, children) {
  const holder = document.getElementById(id);
  if (holder !== null) show(holder, children);
}
