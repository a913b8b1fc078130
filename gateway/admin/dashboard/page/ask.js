// Sends JSON requests to the admin API, with one error class for refusals and one for missing responses.

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

/** No response, or none in JSON. */
export class Away extends Error {}

/** Whether the page shows the message of an error. @param {unknown} error @returns {error is Away | Refused} */
export function hasMessage(error) {
  return error instanceof Refused || error instanceof Away;
}

/** More than the 25 seconds for which the gateway waits for the ledger. */
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
  // A rejected reload is no refusal: it has an outcome.
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
 * `away`: the message of a 503. The parts of a page that need no store are shown without it.
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
