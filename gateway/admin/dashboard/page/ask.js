// Requests to the admin API on the listener of these pages: JSON, with an error class for refusals and one for no answer.

export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** No answer, or none in JSON. */
export class Away extends Error {}

/** Whether the message of an error is for the page. @param {unknown} error @returns {error is Away | Refused} */
export function isTold(error) {
  return error instanceof Refused || error instanceof Away;
}

/** The gateway gives the ledger 25 seconds. */
const PATIENCE_MS = 30_000;

/**
 * @param {string} path
 * @param {{ method?: string, body?: unknown, patience?: number }} [how]
 * @returns {Promise<any>}
 */
export async function ask(path, { method = 'GET', body, patience = PATIENCE_MS } = {}) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const { answer, told } = await answered(path, {
    method,
    headers,
    ...sent,
    signal: AbortSignal.timeout(patience),
  });
  // A rejected reload has an outcome.
  if (!answer.ok && told.outcome === undefined) throw new Refused(answer.status, told.message);
  return told;
}

/** @param {string} path @param {RequestInit} request */
async function answered(path, request) {
  try {
    const answer = await fetch(path, request);
    return { answer, told: await answer.json() };
  } catch (cause) {
    throw new Away('The gateway does not answer.', { cause });
  }
}

/**
 * `away` is the message of a 503: the parts of a page that need no store are shown without it.
 *
 * @template T
 * @param {Promise<T>} asked
 * @returns {Promise<{ told: T, away?: undefined } | { told?: undefined, away: string }>}
 */
export async function unlessAway(asked) {
  try {
    return { told: await asked };
  } catch (error) {
    if (!(error instanceof Refused && error.status === 503)) throw error;
    return { away: error.message };
  }
}
