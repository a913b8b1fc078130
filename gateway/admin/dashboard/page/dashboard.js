// The frame of every page: which page the address means, who is signed in, the warnings above, and looking again.
// A page is a module that says what it asks (look) and what it shows of that (view).
import { ask, isTold, Refused } from './ask.js';
import * as configuration from './configuration.js';
import * as consumer from './consumer.js';
import { h, show } from './elements.js';
import { forgetLedger, knownOfLedger, readLedger } from './ledger.js';
import * as limits from './limits.js';
import * as overview from './overview.js';
import { note } from './parts.js';
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
 * @property {any} usage what /-/usage answers of thirty days; undefined while the ledger has not answered
 * @property {string} ledger why there is no usage: a sentence without its full stop
 * @property {{ signedIn: boolean, readable: boolean }} session
 * @property {() => void} again looks at once
 */
/**
 * @typedef {object} Page
 * @property {string} title
 * @property {(look: Look) => Promise<any>} look
 * @property {(seen: any) => readonly import('./elements.js').Child[]} view
 * @property {(query: URLSearchParams) => string | null} [subject] what the page is of, where that is one thing of many
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
/** A gateway that takes long is asked less often. */
const TIMES_ITS_TIME = 10;
const MOST_MS = 60_000;
/** What costs the gateway nothing comes soon or not at all. */
const PATIENCE_MS = 10_000;

const query = new URLSearchParams(location.search);
const page = PAGES[location.pathname] ?? /** @type {Page} */ (overview);
let timer = 0;
let isLooking = false;
let isWanted = false;
/** The last look, which stays when the next one fails. */
let last = /** @type {{ session: any, standing: any, seen: any } | undefined} */ (undefined);
/** Whoever asks for the form means its field. */
let wantsFocus = location.hash === '#sign-in';

for (const link of document.querySelectorAll('nav a')) {
  if (link.getAttribute('href') === location.pathname) link.setAttribute('aria-current', 'page');
}
document.title = [page.subject?.(query) ?? page.title, 'Sundial'].join(' – ');
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !isLooking) again();
});
window.addEventListener('hashchange', () => {
  wantsFocus = location.hash === '#sign-in';
  draw();
});
again();

/** One look at a time, however often it is asked for. */
function again() {
  clearTimeout(timer);
  isWanted = isLooking;
  if (!isLooking) void lookOnce();
}

async function lookOnce() {
  const began = performance.now();
  isLooking = true;
  const outcome = await look().catch(tellTrouble);
  isLooking = false;
  const took = performance.now() - began;
  if (isWanted) again();
  // A page that nobody sees asks nothing, nor does one that nobody is signed in to.
  else if (outcome !== 'closed' && !document.hidden)
    timer = setTimeout(
      again,
      outcome === 'seen' ? Math.min(MOST_MS, Math.max(EVERY_MS, took * TIMES_ITS_TIME)) : EVERY_MS,
    );
}

/** @returns {Promise<'seen' | 'closed'>} */
async function look() {
  const session = await ask('/-/session', { patience: PATIENCE_MS });
  if (!session.readable) return askForToken();
  const standing = await ask('/-/versions');
  await readLedger(draw);
  const seen = await page.look({ query, standing, ...knownOfLedger(), session, again }).catch(notThere);
  const isFirst = last === undefined;
  last = { session, standing, seen };
  draw();
  place('trouble', []);
  // What an address points to was not there yet when the browser looked for it.
  if (isFirst && location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView();
  return 'seen';
}

function draw() {
  if (last === undefined) return;
  const { session, standing, seen } = last;
  const known = knownOfLedger();
  // A page that goes by the ledger has of it what is known by now.
  const current = 'ledger' in seen ? { ...seen, ...known } : seen;
  const body = seen.missing === undefined ? page.view(current) : missing(seen.missing);
  place('who', [whoBox(session, again, tellTrouble)]);
  place('warnings', warnings(standing, known.usage));
  place('main', [wantsForm(session) && signInForm(leaveForm, { optional: true }), ...body]);
  place('foot', [`By the gateway's clock ${clockOf(standing)}. Looks again by itself.`]);
  if (wantsFocus) document.getElementById('token')?.focus();
  wantsFocus = false;
}

/** A page of what the gateway does not know says so, and nothing else of it is wrong. @param {unknown} error */
function notThere(error) {
  if (error instanceof Refused && (error.status === 404 || error.status === 400))
    return { missing: error.message };
  throw error;
}

/** @param {string} what */
function missing(what) {
  return [
    h('h1', {}, page.title),
    h('section', {}, h('p', {}, what), note(h('a', { href: '/dashboard/' }, 'All versions'))),
  ];
}

/** What was seen last stays, and is said to be old. @param {unknown} error */
function tellTrouble(error) {
  if (error instanceof Refused && error.status === 401) return askForToken();
  // Nothing that the gateway said: for whoever mends it.
  if (!isTold(error)) reportError(error);
  const why = isTold(error) ? error.message : 'This page failed; load it again.';
  const old = last === undefined ? '' : ` What is shown is of ${clockOf(last.standing)}.`;
  place('trouble', [h('p', {}, h('strong', {}, why), `${old} Asking again.`)]);
  if (last === undefined) place('main', [h('h1', {}, page.title), h('p', { class: 'quiet' }, why)]);
  return 'failed';
}

/** @param {{ now: string }} standing */
function clockOf({ now }) {
  return `${now.slice(0, 19).replace('T', ' ')} UTC`;
}

/** @returns {'closed'} */
function askForToken() {
  last = undefined;
  forgetLedger();
  place('trouble', []);
  place('who', []);
  place('warnings', []);
  place('main', [h('h1', {}, 'Sundial'), signInForm(leaveForm, { optional: false })]);
  place('foot', ['This listener shows its pages to nobody who has not the admin token.']);
  return 'closed';
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
