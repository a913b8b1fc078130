// What the ledger has of thirty days, for the warnings and the first pages: asked less often than the rest, and not waited for.
// A slow store keeps nobody from what it has nothing to do with.
import { ask, isTold, unlessAway } from './ask.js';

const EVERY_MS = 15_000;
/** A gateway that takes long is asked less often. */
const TIMES_ITS_TIME = 10;
const WAIT_MS = 1_000;

const READING = 'the ledger is being read';
const AWAY = 'the ledger does not answer';

let usage = /** @type {any} */ (undefined);
let ledger = READING;
let due = 0;

/** `ledger`: why there is no usage, a sentence without its full stop. */
export function knownOfLedger() {
  return { usage, ledger };
}

/** @param {() => void} onLate called when what was not waited for has come */
export async function readLedger(onLate) {
  if (performance.now() < due) return;
  let isLate = false;
  const reading = read().then(() => isLate && onLate());
  await Promise.race([reading, pause(WAIT_MS)]);
  isLate = true;
}

/** Whoever may not read any more does not see what was read. */
export function forgetLedger() {
  usage = undefined;
  ledger = READING;
  due = 0;
}

async function read() {
  const began = performance.now();
  // One at a time.
  due = Number.POSITIVE_INFINITY;
  const { told } = await unlessAway(ask('/-/usage?since=30d&most=100')).catch(silence);
  usage = told;
  ledger = AWAY;
  due = performance.now() + Math.max(EVERY_MS, (performance.now() - began) * TIMES_ITS_TIME);
}

/** Whoever is refused here, or not answered, is told so by the rest of the look. @param {unknown} error */
function silence(error) {
  if (!isTold(error)) reportError(error);
  return { told: undefined };
}

/** @param {number} milliseconds @returns {Promise<void>} */
function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
