// The frame of all pages: selects the page of the address, polls the gateway and draws everything.
import { ask, hasMessage, Refused } from './ask.js';
import * as configuration from './configuration.js';
import * as consumer from './consumer.js';
import { h, show } from './elements.js';
import { forgetLedger, knownOfLedger, readLedger } from './ledger.js';
import * as limits from './limits.js';
import { watchLists } from './listing.js';
import * as overview from './overview.js';
import { signInForm, whoBox } from './sign-in.js';
import * as upstreams from './upstreams.js';
import * as version from './version.js';
import { warnings } from './warnings.js';
import * as webhooks from './webhooks.js';

/**
 * What one poll gives to every page.
 *
 * @typedef {object} Look
 * @property {URLSearchParams} query
 * @property {any} standing the body of /-/versions
 * @property {any} usage the body of /-/usage for thirty days; undefined until the ledger has answered
 * @property {string} ledger the reason if there is no usage, without a full stop
 * @property {{ signedIn: boolean, readable: boolean }} session
 * @property {() => void} again polls at once
 */
/**
 * @typedef {object} Page
 * @property {string} title
 * @property {(look: Look) => Promise<any>} look
 * @property {(seen: any) => readonly import('./elements.js').Child[]} view
 * @property {(query: URLSearchParams) => string | null} [subject] the name of what the page shows, for its title
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
/** A slow gateway is polled less often. */
const TIMES_ITS_TIME = 10;
const MAX_MS = 60_000;
const SESSION_TIMEOUT_MS = 10_000;

const query = new URLSearchParams(location.search);
const page = PAGES[location.pathname];
let timer = 0;
let isLooking = false;
let isWanted = false;
/** The last successful poll, which stays on the page when the next one fails. */
let last = /** @type {{ session: any, standing: any, seen: any } | undefined} */ (undefined);
/** Whether the sign-in form gets the focus. */
let wantsFocus = location.hash === '#sign-in';

for (const link of document.querySelectorAll('header nav a')) {
  if (link.getAttribute('href') === location.pathname) link.setAttribute('aria-current', 'page');
}
document.title = [
  page === undefined ? 'Page not found' : (page.subject?.(query) ?? page.title),
  'Sundial',
].join(' – ');
if (page === undefined) place('main', unknownAddress());
else {
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && !isLooking) again();
  });
  window.addEventListener('hashchange', () => {
    wantsFocus = location.hash === '#sign-in';
    draw();
  });
  watchLists(draw);
  again();
}

function unknownAddress() {
  return [
    h('h1', {}, 'Page not found'),
    h(
      'section',
      {},
      h('p', {}, 'The gateway has no page at ', h('code', {}, location.pathname), '.'),
      h('p', {}, h('a', { href: '/dashboard/' }, 'Go to the overview')),
    ),
  ];
}

/** Polls at once, or after the running poll. */
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
  // A hidden tab and the sign-in page do not poll.
  else if (outcome !== 'closed' && !document.hidden)
    timer = setTimeout(
      again,
      outcome === 'seen' ? Math.min(MAX_MS, Math.max(EVERY_MS, took * TIMES_ITS_TIME)) : EVERY_MS,
    );
}

/** @returns {Promise<'seen' | 'closed'>} */
async function look() {
  const session = await ask('/-/session', { patience: SESSION_TIMEOUT_MS });
  if (!session.readable) return askForToken();
  const standing = await ask('/-/versions');
  await readLedger(draw);
  const seen = await page?.look({ query, standing, ...knownOfLedger(), session, again }).catch(notThere);
  const isFirst = last === undefined;
  last = { session, standing, seen };
  draw();
  place('trouble', []);
  // The page was still empty when the browser looked for the target of the hash.
  if (isFirst && location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView();
  return 'seen';
}

function draw() {
  if (last === undefined || page === undefined) return;
  const { session, standing, seen } = last;
  const known = knownOfLedger();
  // The ledger may have answered since this poll.
  const current = 'ledger' in seen ? { ...seen, ...known } : seen;
  const body = seen.missing === undefined ? page.view(current) : missing(page.title, seen.missing);
  place('who', [whoBox(session, again, tellTrouble)]);
  place('warnings', warnings(standing, known.usage));
  place('main', [wantsForm(session) && signInForm(leaveForm, { optional: true }), ...body]);
  place('foot', [`Gateway clock: ${clockOf(standing)}. This page updates by itself.`]);
  if (wantsFocus) document.getElementById('token')?.focus();
  wantsFocus = false;
}

/** @param {unknown} error */
function notThere(error) {
  if (error instanceof Refused && (error.status === 404 || error.status === 400))
    return { missing: [error.message] };
  throw error;
}

/** @param {string} title @param {readonly import('./elements.js').Child[]} why */
function missing(title, why) {
  return [
    h('h1', {}, `${title} not found`),
    h('section', {}, h('p', {}, ...why), h('p', {}, h('a', { href: '/dashboard/' }, 'Go to the overview'))),
  ];
}

/** Keeps the last page and says how old it is. @param {unknown} error */
function tellTrouble(error) {
  if (error instanceof Refused && error.status === 401) return askForToken();
  // An error in these scripts: the console gets the stack.
  if (!hasMessage(error)) reportError(error);
  const why = hasMessage(error) ? error.message : 'This page failed. Load it again.';
  const old = last === undefined ? '' : ` The data shown is from ${clockOf(last.standing)}.`;
  place('trouble', [h('p', {}, h('strong', {}, why), `${old} Retrying.`)]);
  if (last === undefined) place('main', [h('h1', {}, page?.title), h('p', { class: 'quiet' }, why)]);
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
  place('foot', ['This listener shows its pages only to callers with the admin token.']);
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
