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
export function hasMessage(error) {
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
  const { response, content } = await send(path, {
    method,
    headers,
    ...sent,
    signal: AbortSignal.timeout(patience),
  });
  // A rejected reload has an outcome.
  if (!response.ok && content.outcome === undefined) throw new Refused(response.status, content.message);
  return content;
}

/** @param {string} path @param {RequestInit} request */
async function send(path, request) {
  try {
    const response = await fetch(path, request);
    return { response, content: await response.json() };
  } catch (cause) {
    throw new Away('The gateway does not answer.', { cause });
  }
}

/**
 * `away` is the message of a 503: the parts of a page that need no store are shown without it.
 *
 * @template T
 * @param {Promise<T>} request
 * @returns {Promise<{ value: T, away?: undefined } | { value?: undefined, away: string }>}
 */
export async function unlessAway(request) {
  try {
    return { value: await request };
  } catch (error) {
    if (!(error instanceof Refused && error.status === 503)) throw error;
    return { away: error.message };
  }
}
