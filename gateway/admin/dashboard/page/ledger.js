// Polls the usage of thirty days for all pages, less often than the rest, so that a slow ledger delays no page.
import { ask, hasMessage, unlessAway } from './ask.js';

const EVERY_MS = 15_000;
/** A slow gateway is polled less often. */
const TIMES_ITS_TIME = 10;
const WAIT_MS = 1_000;

const READING = 'loading from the ledger';
const AWAY = 'the ledger does not answer';

let usage = /** @type {any} */ (undefined);
let ledger = READING;
let due = 0;

/** `ledger`: the reason if there is no usage, without a full stop. */
export function knownOfLedger() {
  return { usage, ledger };
}

/** @param {() => void} onLate called if the answer comes after the wait */
export async function readLedger(onLate) {
  if (performance.now() < due) return;
  let isLate = false;
  const reading = read().then(() => isLate && onLate());
  await Promise.race([reading, pause(WAIT_MS)]);
  isLate = true;
}

/** Called when a session ends. */
export function forgetLedger() {
  usage = undefined;
  ledger = READING;
  due = 0;
}

async function read() {
  const began = performance.now();
  // One request at a time.
  due = Number.POSITIVE_INFINITY;
  const { value } = await unlessAway(ask('/-/usage?since=30d&most=100')).catch(silence);
  usage = value;
  ledger = AWAY;
  due = performance.now() + Math.max(EVERY_MS, (performance.now() - began) * TIMES_ITS_TIME);
}

/** The rest of the poll shows refusals and missing responses. @param {unknown} error */
function silence(error) {
  if (!hasMessage(error)) reportError(error);
  return { value: undefined };
}

/** @param {number} milliseconds @returns {Promise<void>} */
function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
